import * as z from 'zod'
import { capabilities } from '../core/capability.ts'

/*
 * Rules that join several settings are judged even while other parts of the file are broken, so
 * that an operator sees everything at once. They look at this outline: here, what is malformed
 * reads as absent, and the schema reports it.
 */

function known<Value extends z.ZodType>(schema: Value) {
  return schema.optional().catch(undefined)
}

function list<Entry extends z.ZodType>(entry: Entry) {
  return z.array(entry).default([]).catch([])
}

const model = z
  .object({
    id: known(z.string()),
    // Null is malformed; absent is the schema's default.
    capabilities: z.array(z.enum(capabilities)).nullable().default(['chat']).catch(null),
    fallbacks: list(known(z.string())),
  })
  .catch({ capabilities: null, fallbacks: [] })

const provider = z
  // Loose, so that every setting of the provider can be held against its kind.
  .looseObject({
    name: known(z.string()),
    kind: known(z.string()),
    api_key_env: known(z.string()),
    base_url: known(z.string()),
    models: list(model),
  })
  .catch({ models: [] })

const outline = z.object({
  // Malformed counts as on: nothing follows from it.
  auth: z
    .object({ enabled: z.boolean().default(false).catch(true) })
    .prefault({})
    .catch({ enabled: true }),
  providers: list(provider),
  webhooks: known(z.object({ signing_key_env: known(z.string()) })),
})

export type Outline = z.infer<typeof outline>
export type ProviderOutline = Outline['providers'][number]
export type ModelOutline = ProviderOutline['models'][number]

/** What can be judged of a file, however broken. */
export function outlineOf(table: unknown): Outline {
  return outline.parse(table)
}
