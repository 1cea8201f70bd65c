/** In bytes. Servers and proxies limit the length of a header. */
const maxDroppedLength = 1024

/** Formats paths for `x-gateway-dropped`, up to its limit. A path may hold a name that a client has sent. */
export function formatPaths(paths: readonly string[]): string {
  let text = ''
  for (const path of new Set(paths)) {
    const shown = path.replace(unprintable, '?')
    const next = text === '' ? shown : `${text},${shown}`
    if (next.length > maxDroppedLength) break
    text = next
  }
  return text
}

/** What is no visible ASCII character, and the comma, which separates the paths. */
const unprintable = /[^!-+\--~]/gu
