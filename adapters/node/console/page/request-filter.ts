import type { RecentRequest } from './shapes.ts'

/** The kinds of outcomes to choose from. */
export const outcomes = [
  { id: 'failed', name: 'Failed', holds: (status: number) => status >= 400 },
  { id: '5xx', name: 'Server errors (5xx)', holds: (status: number) => status >= 500 },
  {
    id: '4xx',
    name: 'Client errors (4xx)',
    holds: (status: number) => status >= 400 && status < 500,
  },
  { id: '2xx', name: 'Served', holds: (status: number) => status < 400 },
] as const

/** Which requests to show. What is undefined leaves none out. */
export interface RequestFilter {
  /** A part of an id, a name, an error code or a reason. */
  readonly text: string | undefined
  /** The id of an outcome. */
  readonly outcome: string | undefined
  readonly model: string | undefined
  readonly keyId: string | undefined
}

/** Reads the filter that an address names. */
export function readFilter(query: URLSearchParams): RequestFilter {
  const get = (name: string) => query.get(name) ?? undefined
  return { text: get('q'), outcome: get('status'), model: get('model'), keyId: get('key') }
}

/** Keeps the requests that a filter lets through. `nameKey`: the name of a key by its id. */
export function filterRequests(
  requests: readonly RecentRequest[],
  filter: RequestFilter,
  nameKey: (id: string) => string | undefined,
): readonly RecentRequest[] {
  const { model, keyId } = filter
  const outcome = outcomes.find(({ id }) => id === filter.outcome)
  const text = filter.text?.trim().toLowerCase() ?? ''
  return requests.filter((request) => {
    if (outcome && !outcome.holds(request.status)) return false
    if (model !== undefined && request.model !== model && request.model_used !== model) return false
    if (keyId !== undefined && request.key_id !== keyId) return false
    return text === '' || listTexts(request, nameKey).some((part) => part.includes(text))
  })
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
    keyId,
    keyId === null ? null : nameKey(keyId),
    ...request.failed.flatMap((link) => [link.model, link.provider, link.reason]),
  ]
  return parts.flatMap((part) => part?.toLowerCase() ?? [])
}
