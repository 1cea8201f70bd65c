import * as z from 'zod'
import { apis, capabilities } from '../core/capability.ts'
import { invalid } from '../core/errors.ts'
import type { Millis } from '../core/ids.ts'
import {
  type UsageFilter,
  type UsageInterval,
  type UsageSumQuery,
  usageGroupings,
  usageIntervals,
} from '../store/index.ts'

/** The sums to return, each divided into intervals if there is one. */
export interface UsageQuery extends UsageSumQuery {
  readonly interval: UsageInterval | undefined
}

/**
 * Parses the query of `GET /admin/usage`; LM-1001 with the parameter at fault. `now`: wall clock.
 */
export function parseUsageQuery(query: URLSearchParams, now: Millis): UsageQuery {
  const given = parseQuery(sumQuery, query)
  return {
    ...resolveWindow(given, now),
    keyId: given.key_id,
    groupId: given.group_id,
    model: given.model,
    provider: given.provider,
    capability: given.capability,
    api: given.api,
    groupBy: given.group_by,
    interval: given.interval,
    limit: given.limit,
  }
}

const day = 24 * 60 * 60

interface Bounds {
  readonly since?: number | undefined
  readonly until?: number | undefined
}

/** Returns the window of a query: by default the 24 hours before `until`, which defaults to now. */
export function resolveWindow(
  { since: from, until: to }: Bounds,
  now: Millis,
): Pick<UsageFilter, 'since' | 'until'> {
  const until = to ?? Math.floor(now / 1000)
  const since = from ?? until - day
  if (since > until) {
    throw invalid('since: must not be after until, which defaults to now', 'since')
  }
  return { since, until }
}

const dateTime = z.iso.datetime({ offset: true })

/** Unix seconds or RFC 3339. Rows carry whole seconds, so a fraction of a second is dropped. */
const time = z.string().transform((text, context) => {
  // With more digits the time would be after the year 9999.
  if (/^-?\d{1,11}(?:\.\d+)?$/.test(text)) return Math.floor(Number(text))
  const upper = text.toUpperCase()
  if (dateTime.safeParse(upper).success) return Math.floor(Date.parse(upper) / 1000)
  context.issues.push({ code: 'custom', input: text, message: timeRule(upper) })
  return z.NEVER
})

/** Returns the rule that a text breaks which is not a time. */
function timeRule(text: string): string {
  if (/^\d{12,}$/.test(text))
    return 'must be unix seconds; this value is too large, perhaps milliseconds'
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(text)) {
    return 'must be unix seconds, or an RFC 3339 time such as 2026-01-31T08:00:00Z'
  }
  const offset = text.slice('2026-01-31T08:00:00'.length).replace(/^\.\d+/, '')
  if (/^ \d\d:?\d\d$/.test(offset)) {
    return 'has a blank for the sign of its offset: in a query, write + as %2B'
  }
  if (!/^(?:Z|[+-]\d\d:\d\d)$/.test(offset)) {
    return 'must end with its offset: Z, -HH:MM or +HH:MM (in a query, write + as %2B)'
  }
  return 'is a date or a time that does not exist'
}

/** Names are matched exactly. Only an empty one is certainly a mistake. */
export const name = z.string().min(1, { error: 'must not be empty' })

/** The parameters of a window. */
export const bounds = { since: time.optional(), until: time.optional() }

const sumQuery = z.strictObject({
  key_id: name.optional(),
  group_id: name.optional(),
  model: name.optional(),
  provider: name.optional(),
  capability: choice(capabilities).optional(),
  api: choice(apis).optional(),
  ...bounds,
  group_by: choice(usageGroupings).default('model'),
  interval: choice(usageIntervals).optional(),
  limit: queryNumber(1, 1000).default(100),
})

export function choice<const Choice extends string>(choices: readonly Choice[]) {
  return z.enum(choices, { error: `must be one of ${choices.join(', ')}` })
}

export function queryNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`
  return z
    .string()
    .regex(/^\d{1,16}$/, { error, abort: true })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error })
}

/** Validates a query string; LM-1001 with the parameter at fault. */
export function parseQuery<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape, z.core.$strict>,
  query: URLSearchParams,
) {
  const names = Object.keys(schema.shape)
  const seen = new Set<string>()
  for (const given of query.keys()) {
    const param = given.slice(0, 100)
    if (!names.includes(given)) {
      throw invalid(`unknown parameter; this route takes ${names.join(', ')}`, param)
    }
    if (seen.has(given)) throw invalid(`${given}: must not be given more than once`, param)
    seen.add(given)
  }
  const parsed = schema.safeParse(Object.fromEntries(query))
  if (parsed.success) return parsed.data
  // zod reports at least one issue per failure. A query is flat, so the path has one element.
  const [issue] = parsed.error.issues as [z.core.$ZodIssue]
  const param = String(issue.path[0])
  throw invalid(`${param}: ${issue.message}`, param)
}
