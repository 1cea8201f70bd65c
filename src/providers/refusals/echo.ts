import type { DialectRequest } from '../../core/endpoints.ts'

/** True when a request contains a text: in its body, with and without the escapes of JSON, a header or its URL. */
export function isEchoed(pattern: RegExp, { body, headers, url }: DialectRequest): boolean {
  const text = new TextDecoder().decode(body)
  return (
    pattern.test(text) ||
    (text.includes('\\') && pattern.test(unescapeJson(text))) ||
    Object.values(headers).some((value) => pattern.test(value)) ||
    pattern.test(decodeUrl(url))
  )
}

/**
 * Replaces the escapes of JSON, also those of JSON within a string, which have several backslashes. Escapes of
 * white space become a space.
 */
function unescapeJson(text: string): string {
  return text.replace(/\\+(?:u([0-9a-f]{4})|(.))/gi, (_, hex?: string, letter = '') =>
    hex === undefined
      ? 'bfnrt'.includes(letter)
        ? ' '
        : letter
      : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

function decodeUrl(url: string): string {
  try {
    return decodeURIComponent(url.replaceAll('+', ' '))
  } catch {
    return url
  }
}
