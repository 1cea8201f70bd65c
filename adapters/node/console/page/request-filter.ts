import type { RecentRequest } from './shapes.ts'

/** The outcomes to choose from, with the parameter of the API for each, and its value. */
export const outcomes = [
  { id: 'failed', name: 'Failed', parameter: 'failed', value: 'true' },
  { id: '5xx', name: 'Server errors (5xx)', parameter: 'status', value: '5xx' },
  { id: '4xx', name: 'Client errors (4xx)', parameter: 'status', value: '4xx' },
  { id: 'served', name: 'Served', parameter: 'failed', value: 'false' },
] as const

const hour = 3600

/** How far back to look; the first is the choice at the start. */
export const ranges = [
  { id: '24h', name: '24 hours', seconds: 24 * hour },
  { id: '1h', name: 'hour', seconds: hour },
  { id: '7d', name: '7 days', seconds: 7 * 24 * hour },
  { id: '30d', name: '30 days', seconds: 30 * 24 * hour },
  { id: 'all', name: 'time of all logs', seconds: Number.POSITIVE_INFINITY },
] as const

/** Which requests to show. What is undefined leaves none out. */
export interface RequestFilter {
  /** A part of a name, an error code or a reason. Among the rows that are shown. */
  readonly text: string | undefined
  /** The id of one request, which is looked for everywhere. */
  readonly requestId: string | undefined
  /** The id of an outcome. */
  readonly outcome: string | undefined
  readonly model: string | undefined
  readonly keyId: string | undefined
  /** The id of a range. */
  readonly range: string | undefined
}

/** Reads the filter that an address names. */
export function readFilter(query: URLSearchParams): RequestFilter {
  const get = (name: string) => query.get(name) ?? undefined
  return {
    text: get('q'),
    requestId: get('id'),
    outcome: get('status'),
    model: get('model'),
    keyId: get('key'),
    range: get('last'),
  }
}

/** The query by which the gateway finds the requests. `now`: unix seconds. */
export function writeQuery(filter: RequestFilter, now: number): string {
  const { requestId, outcome, model, keyId } = filter
  if (requestId !== undefined) return String(new URLSearchParams({ request_id: requestId }))
  const { seconds } = ranges.find(({ id }) => id === filter.range) ?? ranges[0]
  const query = new URLSearchParams({ since: String(Math.max(0, now - seconds)) })
  const chosen = outcomes.find(({ id }) => id === outcome)
  if (chosen) query.set(chosen.parameter, chosen.value)
  if (model !== undefined) query.set('model', model)
  if (keyId !== undefined) query.set('key_id', keyId)
  return String(query)
}

/** Keeps the requests that have a text. `nameKey`: the name of a key by its id. */
export function searchRequests(
  requests: readonly RecentRequest[],
  text: string | undefined,
  nameKey: (id: string) => string | undefined,
): readonly RecentRequest[] {
  const wanted = text?.trim().toLowerCase() ?? ''
  if (wanted === '') return requests
  return requests.filter((request) =>
    listTexts(request, nameKey).some((part) => part.includes(wanted)),
  )
}

function listTexts(
  request: RecentRequest,
  nameKey: (id: string) => string | undefined,
): readonly string[] {
  const { key_id: keyId } = request
  const parts = [
    request.request_id,
    request.model,
    request.model_used,
    request.provider,
    request.error_code,
    request.reason,
    request.api,
    String(request.status),
    keyId,
    keyId === null ? null : nameKey(keyId),
    ...request.failed.flatMap((link) => [link.model, link.provider, link.reason]),
  ]
  return parts.flatMap((part) => part?.toLowerCase() ?? [])
}
