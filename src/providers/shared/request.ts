import { stringifyJson } from '../../wire/raw-json.ts'

/**
 * Where an operation of an OpenAI-shaped API lives. `base` holds the version path, as in the
 * official SDKs; without a path `prefix` stands in. A pasted full address and trailing slashes are
 * understood, the query is kept, a fragment is dropped.
 */
export function buildOperationUrl(base: string, prefix: string, operation: string): string {
  const url = new URL(base)
  const path = getBasePath(url)
  url.pathname = `${path === '' ? prefix : path}${operation}`
  url.hash = ''
  return url.href
}

const operations = ['/chat/completions', '/embeddings', '/rerank', '/reranking']

/** The configured path without trailing slashes and without an operation at its end. */
export function getBasePath(url: URL): string {
  const path = trimSlashes(url.pathname)
  const pasted = operations.find((operation) => path.toLowerCase().endsWith(operation))
  return pasted === undefined ? path : trimSlashes(path.slice(0, -pasted.length))
}

function trimSlashes(path: string): string {
  return path.replace(/\/+$/, '')
}

const encoder = new TextEncoder()

/** The body of a request; absent members are left out, raw JSON goes in as it is. */
export function encodeJsonBody(value: object): Uint8Array {
  return encoder.encode(stringifyJson(value))
}
