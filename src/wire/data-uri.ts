/** A `data:` URI whose payload is base64. */
export interface DataUri {
  /** In lower case, without parameters; empty when the URI has none. */
  readonly mediaType: string
  /** Standard base64 without white space. */
  readonly payload: string
}

/**
 * Parses `data:<media-type>;base64,<payload>`. Scheme, media type and `base64` are case-insensitive, and
 * parameters may precede `base64`. Returns undefined for other text, including percent-encoded payloads.
 */
export function parseDataUri(uri: string): DataUri | undefined {
  const mediaType = parseDataUriType(uri)
  if (mediaType === undefined) return undefined
  const payload = removeSpace(uri.slice(uri.indexOf(',') + 1))
  return payload === '' ? undefined : { mediaType, payload }
}

/** Returns the media type of such a URI without reading its payload. */
export function parseDataUriType(uri: string): string | undefined {
  if (!isDataUri(uri)) return undefined
  const comma = uri.indexOf(',')
  if (comma < 0 || comma === uri.length - 1) return undefined
  const [mediaType = '', ...parameters] = uri.slice(5, comma).toLowerCase().split(';')
  return parameters.at(-1)?.trim() === 'base64' ? mediaType.trim() : undefined
}

/** True for every `data:` URI, even one that cannot be parsed. */
export function isDataUri(uri: string): boolean {
  return uri.slice(0, 5).toLowerCase() === 'data:'
}

/** Removes white space. A payload of megabytes rarely contains any, so it is copied only if needed. */
function removeSpace(payload: string): string {
  return /\s/.test(payload) ? payload.replace(/\s+/g, '') : payload
}
