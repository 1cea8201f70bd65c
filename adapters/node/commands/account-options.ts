import { type Command, InvalidArgumentError } from 'commander'
import { parseDuration } from '../output/durations.ts'

/** The options that set limits of keys and groups; null removes a limit. */
export interface LimitOptions {
  readonly name?: string
  readonly models?: readonly string[] | null
  readonly budgetMax?: number | null
  readonly budgetPeriod?: string | null
  readonly rpmLimit?: number | null
  readonly tpmLimit?: number | null
  readonly maxParallel?: number | null
}

/** Adds the options of the limits. The admin API checks the ranges of their values. */
export function addLimitOptions(command: Command): Command {
  return command
    .option(
      '--models <ids...>',
      'models that may be used; a trailing * matches any ending',
      addModel,
    )
    .option('--budget-max <usd>', 'total budget in US dollars', parseUsd)
    .option('--budget-period <period>', 'spend starts again from 0 each day, week or month', orNone)
    .option('--rpm-limit <count>', 'requests per minute', parseCount)
    .option('--tpm-limit <count>', 'tokens per minute', parseCount)
    .option('--max-parallel <count>', 'requests at once', parseCount)
}

/** Returns the fields of the admin API for options that were given. */
export function toFields(options: object): Readonly<Record<string, unknown>> {
  const fields = Object.entries(options).filter(([name]) => fieldByOption.has(name))
  return Object.fromEntries(fields.map(([name, value]) => [fieldByOption.get(name), value]))
}

const fieldByOption: ReadonlyMap<string, string> = new Map([
  ['name', 'name'],
  ['models', 'models'],
  ['budgetMax', 'budget_max'],
  ['budgetPeriod', 'budget_period'],
  ['rpmLimit', 'rpm_limit'],
  ['tpmLimit', 'tpm_limit'],
  ['maxParallel', 'max_parallel'],
  ['expiresAt', 'expires_at'],
  ['groupId', 'group_id'],
])

/** Parses US dollars. */
export function parseUsd(text: string): number | null {
  if (text === 'none') return null
  const usd = /^\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN
  if (Number.isFinite(usd)) return usd
  throw new InvalidArgumentError('must be a number of US dollars, or none')
}

/** Parses a time: unix seconds, an ISO date or time, or a duration from now. */
export function parseTime(text: string): number | null {
  if (text === 'none') return null
  if (/^\d{1,11}$/.test(text)) return Number(text)
  const after = parseDuration(text)
  if (after !== undefined) return Math.floor(Date.now() / 1000) + after
  const at = isoTime.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isFinite(at)) return Math.floor(at / 1000)
  throw new InvalidArgumentError(
    'must be unix seconds, an ISO time such as 2026-12-31T18:00:00Z, a date, a duration such as 30d, or none',
  )
}

/** A date, at its start in UTC, or a time with its offset. */
const isoTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/i

export function orNone(text: string): string | null {
  return text === 'none' ? null : text
}

/** Commander calls it for each value of the option. */
function addModel(text: string, before: readonly string[] | null = []): readonly string[] | null {
  return text === 'none' ? null : [...(before ?? []), text]
}

function parseCount(text: string): number | null {
  if (text === 'none') return null
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(count)) return count
  throw new InvalidArgumentError('must be a whole number, 0 or more, or none')
}
