/** What lies deeper is left out, because most readers of the result recurse. */
const maxDepth = 128

/**
 * Completes the beginning of a JSON text: what is open at its end is closed there, and a member without a value is
 * left out. Returns a whole text up to the end of its value. A text that is nested too deeply ends where it gets too
 * deep. For any other text the result is not JSON either. Runs in linear time without recursion.
 */
export function closeTornJson(text: string): string {
  const closers: string[] = []
  /** Up to here the text is JSON once its containers are closed. */
  let safe = 0
  let isKey = false
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"': {
        const { end, isClosed } = findStringEnd(text, at)
        if (!isClosed)
          return isKey ? close(text, safe, closers) : close(text, end, ['"', ...closers])
        at = end
        if (!isKey) safe = end + 1
        break
      }
      case '{':
      case '[':
        if (closers.length === maxDepth) return close(text, safe, closers)
        isKey = text[at] === '{'
        closers.unshift(isKey ? '}' : ']')
        safe = at + 1
        break
      case '}':
      case ']':
        closers.shift()
        isKey = false
        safe = at + 1
        if (closers.length === 0) return text.slice(0, safe)
        break
      case ',':
        // A number or a literal is complete only here.
        safe = at
        isKey = closers[0] === '}'
        break
      case ':':
        isKey = false
        break
    }
  }
  return close(text, safe, closers)
}

function close(text: string, end: number, closers: readonly string[]): string {
  return text.slice(0, end) + closers.join('')
}

interface StringEnd {
  /** The offset of the closing quote, or of the first character that a cut string cannot keep. */
  readonly end: number
  readonly isClosed: boolean
}

function findStringEnd(text: string, start: number): StringEnd {
  let at = start + 1
  while (at < text.length) {
    const character = text[at]
    if (character === '"') return { end: at, isClosed: true }
    const size = character !== '\\' ? 1 : text[at + 1] === 'u' ? 6 : 2
    if (at + size > text.length) return { end: at, isClosed: false }
    at += size
  }
  return { end: text.length, isClosed: false }
}
