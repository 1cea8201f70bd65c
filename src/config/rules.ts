import * as z from 'zod'
import { maxTimerDelay } from '../core/ids.ts'

/** A whole number of a range. Where 0 is the first value outside, the message says so. */
export function wholeNumber(min: number, max: number) {
  const rule = `must be a whole number from ${min} to ${max}`
  const error = ({ input }: { readonly input?: unknown }) =>
    input === 0 ? `must not be 0: ${rule}` : rule
  return z.int({ error }).min(min, { error }).max(max, { error })
}

/** A number of a range, fractions included. TOML writes `nan` and `inf` as numbers: neither passes. */
export function amount(min: number, max: number) {
  const error = `must be a number from ${min} to ${max}`
  return z.number({ error }).min(min, { error }).max(max, { error })
}

/** Milliseconds, where 0 is a meaning of its own. */
export const delay = wholeNumber(0, maxTimerDelay)

/** Milliseconds, where 0 would end or repeat something at once. */
export const duration = wholeNumber(1, maxTimerDelay)

/** Bytes, up to what one buffer can hold. */
export const byteCount = wholeNumber(1, 2 ** 31 - 1)

/** US dollars. */
export const price = amount(0, 1_000_000)

/** Text of at least one character, none of them a control character. */
export const text = z.string().regex(/^\P{Cc}+$/u, {
  error: 'must be text of one or more characters, none of them a control character',
})

/** Text that stands in an address as it is. */
export const word = z.string().regex(/^[\w.-]+$/, {
  error: 'must be one or more letters, digits, ".", "_" or "-", without blanks',
})

/** Model ids and provider names stand in response headers, so they must be legal header values. */
export const headerText = z
  .string()
  .regex(/^(?=.{1,256}$)[\x21-\x7e\xa1-\xff]+(?: +[\x21-\x7e\xa1-\xff]+)*$/, {
    error: 'must be 1 to 256 printable Latin-1 characters, with no space at either end',
  })

/** The name of an environment variable. The name is logged, so a key pasted here must not pass. */
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

/** How shells, templates and other gateways mark a name as that of a variable. */
function findVariableSyntax(name: string): string | undefined {
  return /^(?:\$|%|env[.:]|os\.environ\/)/.exec(name)?.[0]
}

/** How the keys of well-known vendors begin. */
function isKeyShaped(name: string): boolean {
  return /^(?:sk-|(?:gsk_|hf_|xai-|pplx-|nvapi-|csk-|AIza|AKIA|eyJ)[\w.-]{16,}$)/.test(name)
}

/** A list without repetitions. */
export function distinct<Item extends z.ZodType<string | number>>(item: Item) {
  return z.array(item).check(({ value, issues }) => {
    const seen = new Set<unknown>()
    for (const [i, entry] of value.entries()) {
      if (seen.has(entry)) {
        issues.push({ code: 'custom', input: entry, path: [i], message: 'is listed twice' })
      }
      seen.add(entry)
    }
  })
}

/** A list without repetitions of at least one item. */
export function distinctNonEmpty<Item extends z.ZodType<string | number>>(item: Item) {
  return distinct(item).min(1, { error: 'must not be empty' })
}
