/** JSON text that goes into a body as it is. It must be valid JSON. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** For `JSON.stringify` inside `jsonText`, which puts the text where the mark stands. */
  toJSON(): string {
    placed.push(this.text)
    return mark
  }
}

/** Random for each process, so that no text of a client is taken for it. */
const mark = crypto.randomUUID()

/** The texts that `JSON.stringify` has come by, in the order of the document. */
let placed: string[] = []

/** `JSON.stringify`, with the text of every `RawJson` as it is. */
export function jsonText(value: object): string {
  placed = []
  const json = JSON.stringify(value)
  if (placed.length === 0) return json
  const pieces = json.split(`"${mark}"`)
  let whole = pieces[0] ?? ''
  placed.forEach((text, index) => {
    whole += wellFormed(text) + pieces[index + 1]
  })
  return whole
}

/** Half a surrogate pair has no UTF-8; `JSON.stringify` escapes it likewise. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`)
}
