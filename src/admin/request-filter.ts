import * as z from 'zod'
import type { Millis } from '../core/ids.ts'
import type { RequestFilter, StatusRange, UsageListQuery } from '../store/index.ts'
import { bounds, choice, name, parseQuery, queryNumber, resolveWindow } from './usage-query.ts'

/** A status such as `429`, or a class such as `4xx`. */
const status = z
  .string()
  .regex(/^[1-5](?:\d\d|xx)$/i, { error: 'must be a status such as 429, or a class such as 4xx' })
  .transform((text): StatusRange => {
    const from = Number(text.replace(/x/gi, '0'))
    return { from, to: /x/i.test(text) ? from + 99 : from }
  })

const failed: StatusRange = { from: 400, to: 599 }
const succeeded: StatusRange = { from: 100, to: 399 }

/** The parameters that choose requests. */
export const requestParameters = {
  request_id: name.optional(),
  key_id: name.optional(),
  group_id: name.optional(),
  model: name.optional(),
  provider: name.optional(),
  status: status.optional(),
  failed: choice(['true', 'false']).optional(),
  error_code: name.optional(),
}

/** What a query has given for `requestParameters`. */
type GivenFilter = z.infer<z.ZodObject<typeof requestParameters>>

export function toRequestFilter(given: GivenFilter): RequestFilter {
  return {
    requestId: given.request_id,
    keyId: given.key_id,
    groupId: given.group_id,
    model: given.model,
    provider: given.provider,
    errorCode: given.error_code,
    statuses: toStatuses(given),
  }
}

/** The statuses that both parameters allow. */
function toStatuses({ status: range, failed: wanted }: GivenFilter): StatusRange | undefined {
  if (wanted === undefined) return range
  const { from, to } = wanted === 'true' ? failed : succeeded
  return range ? { from: Math.max(from, range.from), to: Math.min(to, range.to) } : { from, to }
}

/** Parses the query of `GET /admin/usage/export`; LM-1001 with the parameter at fault. `now`: wall clock. */
export function parseExportQuery(query: URLSearchParams, now: Millis): UsageListQuery {
  const given = parseQuery(exportQuery, query)
  const { cursor, limit } = given
  return { ...resolveWindow(given, now), ...toRequestFilter(given), cursor, limit }
}

const exportQuery = z.strictObject({
  ...bounds,
  ...requestParameters,
  cursor: queryNumber(0, Number.MAX_SAFE_INTEGER).default(0),
  limit: queryNumber(1, 10_000).default(1000),
})
