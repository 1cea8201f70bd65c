import * as z from 'zod'
import { maxTimerDelay, nameRule } from '../core/ids.ts'
import { factorDecimals } from '../core/price-settings.ts'

/**
 * Describes a setting, or a table of them, for the documentation and the JSON Schema of the file. The text is Markdown,
 * with links relative to `docs`. It is registered, because `describe` would clone every schema at each start.
 */
export function setting<Schema extends z.ZodType>(description: string, schema: Schema): Schema {
  // A rule serves several settings; what wraps it is of one.
  const own = isWrapper(schema) ? schema : schema.clone()
  z.globalRegistry.add(own, { description })
  return own
}

function isWrapper(schema: z.ZodType): boolean {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodOptional
}

/** A whole number in a range. The message for 0 says that 0 is not allowed. */
export function wholeNumber(min: number, max: number) {
  const rule = `must be a whole number from ${min} to ${max}`
  const error = ({ input }: { readonly input?: unknown }) =>
    input === 0 ? `must not be 0: ${rule}` : rule
  return z.int({ error }).min(min, { error }).max(max, { error })
}

/** A number in a range, with fractions. `nan` and `inf`, which are numbers in TOML, are rejected. */
export function amount(min: number, max: number) {
  const error = `must be a number from ${min} to ${max}`
  return z.number({ error }).min(min, { error }).max(max, { error })
}

/** Milliseconds, where 0 has a meaning of its own. */
export const delay = wholeNumber(0, maxTimerDelay)

/** Milliseconds, where 0 would end or repeat something immediately. */
export const duration = wholeNumber(1, maxTimerDelay)

/** Bytes, up to the maximum size of one buffer. */
export const byteCount = wholeNumber(1, 2 ** 31 - 1)

/** Calls at once to an upstream. */
export const parallelCalls = wholeNumber(1, 1_000_000)

/** Requests that wait for an upstream. */
export const queueLength = wholeNumber(0, 1_000_000)

/** US dollars. */
export const price = amount(0, 1_000_000)

/** A factor of prices. More decimals would be rounded. */
export const priceFactor = amount(0, 1000).refine(
  (factor) => Number(factor.toFixed(factorDecimals)) === factor,
  { error: `must have at most ${factorDecimals} decimals` },
)

/** The place of a member in an answer. */
export const fieldPath = z.string().regex(/^[\w-]{1,64}(?:\.[\w-]{1,64}){0,9}$/, {
  error: 'must be names of members, joined by ".", such as "usage.total_cost"',
})

/** The name of a service tier or a region, as answers give it. */
export const tierName = z.string().regex(/^[a-z\d][a-z\d_.-]{0,39}$/, {
  error: 'must be 1 to 40 lower-case letters, digits, "_", "." or "-"',
})

/** Text of at least one character, none of them a control character. */
export const text = z.string().regex(/^\P{Cc}+$/u, {
  error: 'must be text of one or more characters, none of them a control character',
})

/** Text that is inserted into a URL unescaped. */
export const word = z.string().regex(/^[\w.-]+$/, {
  error: 'must be one or more letters, digits, ".", "_" or "-", without blanks',
})

/** The name of a provider. */
export const headerText = z.string().regex(nameRule, {
  error: 'must be 1 to 256 printable Latin-1 characters, with no space at either end',
  abort: true,
})

/** The id of a model, which may be a pattern. */
export const modelId = headerText.refine((id) => !id.slice(0, -1).includes('*'), {
  error: 'may have a "*" only once, at its end',
})

/** The id of a route, which is no pattern. */
export const routeId = headerText.refine((id) => !id.includes('*'), {
  error: 'must not have a "*": only the id of a model may be a pattern',
})

/** The name of an environment variable. Names are logged, so a key pasted here must be rejected. */
export const variableName = z
  .string()
  .refine((name) => findVariableSyntax(name) === undefined, {
    error: ({ input }) => {
      const prefix = findVariableSyntax(String(input))
      return `must be the name of an environment variable alone, without the ${prefix}`
    },
    abort: true,
  })
  .refine((name) => !isKeyShaped(name), {
    error: 'must be the name of the environment variable that holds the key, not the key',
    abort: true,
  })
  .regex(/^[A-Za-z_][\w.-]*$/, {
    error:
      'must be the name of an environment variable: letters, digits, "_", "-" and ".", not a digit first',
  })

/** Finds the prefix with which shells, templates and other gateways mark a variable. */
function findVariableSyntax(name: string): string | undefined {
  return /^(?:\$|%|env[.:]|os\.environ\/)/.exec(name)?.[0]
}

/** True when a text begins like a key of a well-known vendor. */
function isKeyShaped(name: string): boolean {
  return /^(?:sk-|(?:gsk_|hf_|xai-|pplx-|nvapi-|csk-|AIza|AKIA|eyJ)[\w.-]{16,}$)/.test(name)
}

/** Which requests stay where they were served. */
export const affinity = z.union([z.boolean(), z.literal('prefix')], {
  error: 'must be true, false or "prefix"',
})

/** How long a session is remembered: at most a week. */
export const affinityTtl = wholeNumber(1, 604_800)

/** A list without duplicates. */
export function distinct<Item extends z.ZodType<string | number>>(item: Item) {
  return z
    .array(item)
    .check(({ value, issues }) => {
      const seen = new Set<unknown>()
      for (const [i, entry] of value.entries()) {
        if (seen.has(entry)) {
          issues.push({ code: 'custom', input: entry, path: [i], message: 'is listed twice' })
        }
        seen.add(entry)
      }
    })
    .meta({ uniqueItems: true })
}

/** A list of at least one item, without duplicates. */
export function distinctNonEmpty<Item extends z.ZodType<string | number>>(item: Item) {
  return distinct(item).min(1, { error: 'must not be empty' }).meta({ uniqueItems: true })
}
