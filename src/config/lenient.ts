import * as z from 'zod'
import { capabilities } from '../core/capability.ts'
import { clouds } from '../core/cloud-credential.ts'
import { strategies } from '../core/route.ts'
import { uncompiled } from './uncompiled.ts'

/*
 * Rules that join several settings are checked even when other parts of the file are malformed, so
 * that an operator sees every problem at once. They read this lenient form of the configuration: a
 * malformed value reads as absent here, and the schema reports it.
 */

function optional<Value extends z.ZodType>(schema: Value) {
  return schema.optional().catch(undefined)
}

function list<Entry extends z.ZodType>(entry: Entry) {
  return z.array(entry).default([]).catch([])
}

/** The name of a profile, or the table that may name one. */
const profile = optional(z.union([z.string(), z.object({ base: optional(z.string()) })]))

/** Loose, because a price counts as given even when it is malformed. */
const priceEntry = z
  .looseObject({
    above_input: optional(z.number()),
    time_zone: optional(z.string()),
    from: optional(z.string()),
    until: optional(z.string()),
    cost_per_1k_web_searches: optional(z.unknown()),
    tool_costs_per_1k: optional(z.looseObject({})),
  })
  .catch({})

export type LenientPriceEntry = z.infer<typeof priceEntry>

const model = z
  .object({
    id: optional(z.string()),
    // Null stands for a malformed value; an absent one has the default of the schema.
    capabilities: z.array(z.enum(capabilities)).nullable().default(['chat']).catch(null),
    upstream_id: optional(z.string()),
    cache_marks: optional(z.unknown()),
    input_type: optional(z.string()),
    decisions: optional(z.unknown()),
    decisions_path: optional(z.unknown()),
    profile,
    cost_per_1k_web_searches: optional(z.unknown()),
    tool_costs_per_1k: optional(z.looseObject({})),
    cost: optional(z.string()),
    cost_field: optional(z.unknown()),
    cost_unit: optional(z.unknown()),
    prices: list(priceEntry),
    fallbacks: list(optional(z.string())),
  })
  .catch({ capabilities: null, prices: [], fallbacks: [] })

const provider = z
  // Loose, so that every setting of the provider can be checked against its kind.
  .looseObject({
    name: optional(z.string()),
    kind: optional(z.string()),
    api_key_env: optional(z.string()),
    api_key_envs: list(optional(z.string())),
    credentials: optional(z.enum(clouds)),
    base_url: optional(z.string()),
    discover: optional(z.boolean()),
    cost: optional(z.string()),
    cost_field: optional(z.unknown()),
    cost_unit: optional(z.unknown()),
    profile,
    models: list(model),
  })
  .catch({ api_key_envs: [], models: [] })

const target = z
  .object({ model: optional(z.string()), weight: optional(z.number()).default(1) })
  .catch({ weight: 1 })

/** Null stands for a malformed value. */
function orNull<Value extends z.ZodType>(schema: Value) {
  return schema.nullable().optional().catch(null)
}

const tokenRange = z.object({
  above: orNull(z.number()),
  below: orNull(z.number()),
})

const when = z.looseObject({
  input_tokens: orNull(tokenRange),
  metadata: orNull(z.looseObject({})),
  time_zone: optional(z.string()),
})

const switchCase = z
  .object({ target: optional(z.string()), when: optional(when) })
  .catch({ target: undefined, when: undefined })

const route = z
  // Loose, so that a setting which the strategy does not have is found.
  .looseObject({
    id: optional(z.string()),
    strategy: orNull(z.enum([...strategies, 'switch'])),
    targets: orNull(z.array(target)),
    fallbacks: list(optional(z.string())),
    cases: orNull(z.array(switchCase)),
    default: orNull(z.string()),
  })
  .catch({ strategy: null, targets: null, fallbacks: [], cases: null })

const lenientConfig = z.object({
  // Null stands for a malformed value; an absent one has the default of the schema.
  auth: z
    .object({ enabled: z.boolean().nullable().default(false).catch(null) })
    .prefault({})
    .catch({ enabled: null }),
  server: z
    .object({ workers: z.union([z.number(), z.string()]).default(1).catch(1) })
    .prefault({})
    .catch({ workers: 1 }),
  providers: list(provider),
  routes: list(route),
  shared: optional(z.object({ url: z.unknown().optional(), url_env: optional(z.string()) })),
  webhooks: optional(z.object({ signing_key_env: optional(z.string()) })),
})

export type LenientConfig = z.infer<typeof lenientConfig>
export type LenientProvider = LenientConfig['providers'][number]
export type LenientRoute = LenientConfig['routes'][number]
export type LenientModel = LenientProvider['models'][number]

/** Parses any table; never throws. */
export function parseLenient(table: unknown): LenientConfig {
  return lenientConfig.parse(table, uncompiled)
}
