/** JSON text that goes into a body as it is. It must be valid JSON. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** For `JSON.stringify` inside `stringifyJson`, which puts the text where the mark stands. */
  toJSON(): string {
    placed.push(this.text)
    return mark
  }
}

/**
 * Stands for a text. It begins with a character that texts seldom have, so that it is found quickly.
 * Random only once a document holds it: some runtimes have no random values while they load a module.
 */
let mark = '~raw-json'

function newMark(): string {
  return `~${crypto.randomUUID().slice(0, 8)}`
}

/** The texts that `JSON.stringify` has come by, in the order of the document. */
let placed: string[] = []

/** `JSON.stringify`, with the text of every `RawJson` as it is. */
export function stringifyJson(value: object): string {
  placed = []
  const json = JSON.stringify(value)
  let whole = ''
  let from = 0
  for (const text of placed) {
    const at = json.indexOf(mark, from)
    // The mark is a string in the document: a quote stands on either side.
    whole += json.slice(from, at - 1) + escapeSurrogates(text)
    from = at + mark.length + 1
  }
  if (from === 0) return json
  if (json.indexOf(mark, from) === -1) return whole + json.slice(from)
  // Some text of the document holds the mark too.
  mark = newMark()
  return stringifyJson(value)
}

/** Half a surrogate pair has no UTF-8; `JSON.stringify` escapes it likewise. */
function escapeSurrogates(text: string): string {
  if (!/\p{Surrogate}/u.test(text)) return text
  return text.replace(/\p{Surrogate}/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`)
}
