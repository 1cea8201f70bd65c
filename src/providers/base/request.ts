import { stringifyJson } from '../../wire/json/raw.ts'

/**
 * Builds the URL of an operation of an OpenAI-shaped API. `base` includes the version path, as in the
 * official SDKs; without a path, `prefix` is used. An operation and slashes at the end of `base` are
 * removed, its query is kept and its fragment dropped.
 */
export function buildOperationUrl(base: string, prefix: string, operation: string): string {
  const url = new URL(base)
  const path = getBasePath(url)
  url.pathname = `${path === '' ? prefix : path}${operation}`
  url.hash = ''
  return url.href
}

const operations = [
  '/chat/completions',
  '/completions',
  '/responses',
  '/embeddings',
  '/rerank',
  '/reranking',
  '/decisions',
  '/systemone',
]

/** Returns the configured path without an operation and slashes at its end. */
export function getBasePath(url: URL): string {
  const path = trimSlashes(url.pathname)
  const pasted = operations.find((operation) => path.toLowerCase().endsWith(operation))
  return pasted === undefined ? path : trimSlashes(path.slice(0, -pasted.length))
}

function trimSlashes(path: string): string {
  return path.replace(/\/+$/, '')
}

const encoder = new TextEncoder()

/** Encodes a request body. Undefined members are left out; `RawJson` is inserted as it is. */
export function encodeJsonBody(value: object): Uint8Array {
  return encoder.encode(stringifyJson(value))
}
