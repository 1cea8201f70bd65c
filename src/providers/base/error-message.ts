import { isObject } from '../../wire/json/parse.ts'

/** In characters. Longer than clients see, because secrets are masked before the text is cut. */
const maxLength = 4000

/**
 * Returns the human-readable message in an upstream's error body, or an empty string. Vendors nest it in
 * many ways; the first match counts. HTML is dropped, white space collapsed, the length bounded.
 */
export function parseErrorMessage(body: string): string {
  const trimmed = body.trim()
  if (trimmed === '' || trimmed.startsWith('<')) return ''
  let value: unknown
  try {
    value = JSON.parse(trimmed)
  } catch {
    return tidy(trimmed)
  }
  return extractMessage(value)
}

/** Does the same for a body that is already parsed. */
export function extractMessage(value: unknown): string {
  // Google's OpenAI layer wraps its error in a list.
  const body = Array.isArray(value) ? value[0] : value
  if (typeof body === 'string') return tidy(body)
  if (!isObject(body)) return ''
  const error = body['error']
  const found =
    readRelayedError(error) ??
    nonEmptyText(member(error, 'message')) ??
    stringifyObject(member(error, 'message')) ??
    nonEmptyText(error) ??
    nonEmptyText(body['message']) ??
    nonEmptyText(member(body['message'], 'detail')) ??
    stringifyObject(body['message']) ??
    nonEmptyText(member(first(body['errors']), 'message')) ??
    joinTitle(body) ??
    nonEmptyText(body['detail']) ??
    nonEmptyText(member(body['detail'], 'error')) ??
    readValidationItem(first(body['detail'])) ??
    nonEmptyText(member(body['fault'], 'faultstring')) ??
    nonEmptyText(body['msg']) ??
    nonEmptyText(body['status_msg']) ??
    nonEmptyText(member(body['base_resp'], 'status_msg'))
  return tidy(found ?? JSON.stringify(body))
}

/** Adds the provider and the cause, which OpenRouter reports beside its own message. */
function readRelayedError(error: unknown): string | undefined {
  const message = nonEmptyText(member(error, 'message'))
  const metadata = member(error, 'metadata')
  const provider = nonEmptyText(member(metadata, 'provider_name'))
  const raw = member(metadata, 'raw')
  const cause =
    typeof raw === 'string' ? parseErrorMessage(raw) : isObject(raw) ? extractMessage(raw) : ''
  if (message === undefined || (provider === undefined && cause === '')) return undefined
  const source = provider === undefined ? message : `${message} (${provider})`
  return cause === '' || cause === message ? source : `${source}: ${cause}`
}

function tidy(message: string): string {
  const flat = message.replace(/\s+/g, ' ').trim()
  if (flat.startsWith('<')) return ''
  return flat.slice(0, maxLength)
}

function nonEmptyText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function stringifyObject(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : undefined
}

function member(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined
}

function first(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : undefined
}

function joinTitle(body: Record<string, unknown>): string | undefined {
  const title = nonEmptyText(body['title'])
  const detail = nonEmptyText(body['detail'])
  return title !== undefined && detail !== undefined ? `${title}: ${detail}` : title
}

/** Reads a FastAPI validation item: `loc` and `msg`. */
function readValidationItem(item: unknown): string | undefined {
  const message = nonEmptyText(member(item, 'msg'))
  const place = member(item, 'loc')
  if (message === undefined) return undefined
  return Array.isArray(place) ? `${place.join('.')}: ${message}` : message
}
