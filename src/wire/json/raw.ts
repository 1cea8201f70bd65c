import { replaceEscapedHalves } from '../surrogates.ts'

/** JSON text that is copied into a document unchanged. It must be valid JSON. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** Called by `JSON.stringify`; `stringifyJson` then replaces the mark by the text. */
  toJSON(): string {
    placed.push(this.text)
    return mark
  }
}

/**
 * Placeholder for a raw text. It starts with a rare character, so the search for it is fast. It becomes
 * random only after a collision: some runtimes have no random values while a module loads.
 */
let mark = '~raw-json'

function newMark(): string {
  return `~${crypto.randomUUID().slice(0, 8)}`
}

/** The raw texts that `JSON.stringify` has visited, in document order. */
let placed: string[] = []

/**
 * Serializes like `JSON.stringify`, with the text of every `RawJson` unchanged, but for halves of characters: in both,
 * U+FFFD takes their place.
 */
export function stringifyJson(value: object): string {
  placed = []
  // The only escapes with these letters are those of halves, unless the text has a backslash of its own.
  const written = JSON.stringify(value)
  const json = written.includes('\\ud') ? replaceEscapedHalves(written) : written
  let whole = ''
  let from = 0
  for (const text of placed) {
    const at = json.indexOf(mark, from)
    // The mark is a JSON string, with a quote on each side.
    whole += json.slice(from, at - 1) + toWholeCharacters(text)
    from = at + mark.length + 1
  }
  if (from === 0) return json
  if (json.indexOf(mark, from) === -1) return whole + json.slice(from)
  // Another text of the document contains the mark.
  mark = newMark()
  return stringifyJson(value)
}

/** Raw texts have characters of either form. */
function toWholeCharacters(json: string): string {
  const whole = json.toWellFormed()
  return /\\u[dD]/.test(whole) ? replaceEscapedHalves(whole) : whole
}
