import { type Command, InvalidArgumentError } from 'commander'
import { parseTime } from '../output/times.ts'

/** Adds the options of the limits. The admin API checks the ranges of their values. */
export function addLimitOptions(command: Command): Command {
  return command
    .option(
      '--models <ids...>',
      'models that may be used, separated by blanks or commas; a trailing * matches any ending',
      addModels,
    )
    .option('--budget-max <usd>', 'total budget in US dollars', parseUsd)
    .option('--budget-period <period>', 'spend starts again from 0 each day, week or month', orNone)
    .option('--rpm-limit <count>', 'requests per minute', parseCount)
    .option('--tpm-limit <count>', 'tokens per minute', parseCount)
    .option('--max-parallel <count>', 'requests at once', parseCount)
    .option(
      '--priority <class>',
      'high, normal or low, where requests wait for an upstream',
      orNone,
    )
}

/** The value `none`, which removes a limit. Commander takes null for an empty text. */
const none = Symbol('none')

type None = typeof none

/** Returns the fields of the admin API for options that were given. */
export function toFields(options: object): Readonly<Record<string, unknown>> {
  const fields = Object.entries(options).filter(([name]) => fieldByOption.has(name))
  return Object.fromEntries(
    fields.map(([name, value]) => [fieldByOption.get(name), value === none ? null : value]),
  )
}

const fieldByOption: ReadonlyMap<string, string> = new Map([
  ['name', 'name'],
  ['models', 'models'],
  ['budgetMax', 'budget_max'],
  ['budgetPeriod', 'budget_period'],
  ['rpmLimit', 'rpm_limit'],
  ['tpmLimit', 'tpm_limit'],
  ['maxParallel', 'max_parallel'],
  ['priority', 'priority'],
  ['expiresAt', 'expires_at'],
  ['groupId', 'group_id'],
])

function parseUsd(text: string): number | None {
  if (text === 'none') return none
  const usd = /^\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN
  if (Number.isFinite(usd)) return usd
  throw new InvalidArgumentError('must be a number of US dollars, or none')
}

/** Parses an amount of US dollars. */
export function parseAmount(text: string): number {
  const usd = parseUsd(text)
  if (usd !== none) return usd
  throw new InvalidArgumentError('must be a number of US dollars')
}

/** Parses a time; a duration is from now. */
export function parseExpiry(text: string): number | None {
  return text === 'none' ? none : parseTime(text, (now, duration) => now + duration)
}

export function orNone(text: string): string | None {
  return text === 'none' ? none : text
}

/** Commander calls it for each value of the option. */
function addModels(text: string, before: readonly string[] | None = []): readonly string[] | None {
  if (text === 'none' || before === none) return none
  const ids = text.split(',').map((id) => id.trim())
  return [...before, ...ids.filter((id) => id !== '')]
}

function parseCount(text: string): number | None {
  if (text === 'none') return none
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(count)) return count
  throw new InvalidArgumentError('must be a whole number, 0 or more, or none')
}
