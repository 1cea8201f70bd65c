/** A `data:` URI whose payload is base64. */
export interface DataUri {
  /** Lower case, without parameters; empty when the URI names none. */
  readonly mediaType: string
  /** Standard base64 without white space. */
  readonly payload: string
}

/**
 * Reads `data:<media-type>;base64,<payload>`. Scheme, media type and marker may be in any case, and
 * parameters may stand before the marker. Undefined for everything else, percent-encoding included.
 */
export function parseDataUri(uri: string): DataUri | undefined {
  const mediaType = parseDataUriType(uri)
  if (mediaType === undefined) return undefined
  const payload = removeSpace(uri.slice(uri.indexOf(',') + 1))
  return payload === '' ? undefined : { mediaType, payload }
}

/** The media type of such a URI, without a look at its payload. */
export function parseDataUriType(uri: string): string | undefined {
  if (!isDataUri(uri)) return undefined
  const comma = uri.indexOf(',')
  if (comma < 0 || comma === uri.length - 1) return undefined
  const [mediaType = '', ...parameters] = uri.slice(5, comma).toLowerCase().split(';')
  return parameters.at(-1)?.trim() === 'base64' ? mediaType.trim() : undefined
}

/** True for every `data:` URI, also one that cannot be read. */
export function isDataUri(uri: string): boolean {
  return uri.slice(0, 5).toLowerCase() === 'data:'
}

/** Payloads reach megabytes and hardly ever hold white space, so they are copied only when they do. */
function removeSpace(payload: string): string {
  return /\s/.test(payload) ? payload.replace(/\s+/g, '') : payload
}
