/** The demo repeats at most this many characters of a text. */
const maxQuoted = 2000

/** Returns the part of a text that the demo repeats. */
export function excerptText(text: string): string {
  return text.slice(0, maxQuoted)
}

/** What the demo answers to a text of its user. */
export function greet(said: string): string {
  return `Hello from the demo provider of Model Gateway. You said: ${excerptText(said)}`
}

/** Splits text into words with the white space after them, so that joining restores the text. */
export function splitWords(text: string): string[] {
  return text.match(/\S+\s*/g) ?? []
}
