import { countCharacters, type TextRange } from '../canonical/annotations.ts'

/** A piece of a text in bytes of its UTF-8, as the service counts. */
export interface ByteRange {
  readonly from: number
  readonly end: number
}

/**
 * The text of an answer, by its parts. Google counts in bytes of a part or of the whole, the OpenAI API in
 * characters of the whole. Each text is encoded once, however many sources it has.
 */
export class AnswerText {
  readonly #texts: readonly string[]
  /** The characters before each part. */
  readonly #before: readonly number[]
  readonly #parts = new Map<number, EncodedText>()
  #whole: EncodedText | undefined
  #comparisonsLeft = maxComparisons

  /** `texts` are the parts, empty where a part is not in the text of the message. */
  constructor(texts: readonly string[]) {
    this.#texts = texts
    let sum = 0
    this.#before = texts.map((text) => {
      const before = sum
      sum += countCharacters(text)
      return before
    })
  }

  /** Returns the place of a range of one part; undefined if it is not in the part, or has another text. */
  findInPart(at: number, range: ByteRange, text?: string): TextRange | undefined {
    const before = this.#before[at]
    if (before === undefined) return undefined
    const found = this.#part(at).locate(range, text)
    return found && { start: before + found.start, end: before + found.end }
  }

  /** Does the same for a range of the whole text. */
  findInWhole(range: ByteRange, text?: string): TextRange | undefined {
    return this.#all.locate(range, text)
  }

  /** Returns a range of the whole text as text. */
  read(range: ByteRange): string {
    return this.#all.read(range)
  }

  /** Searches for a text; undefined when it is not there, or when earlier searches have taken too long. */
  search(cited: string): TextRange | undefined {
    const { text } = this.#all
    this.#comparisonsLeft -= text.length * cited.length
    if (cited === '' || this.#comparisonsLeft < 0) return undefined
    const at = text.indexOf(cited)
    if (at < 0) return undefined
    const start = countCharacters(text.slice(0, at))
    return { start, end: start + countCharacters(cited) }
  }

  #part(at: number): EncodedText {
    const known = this.#parts.get(at) ?? new EncodedText(this.#texts[at] ?? '')
    this.#parts.set(at, known)
    return known
  }

  get #all(): EncodedText {
    this.#whole ??= this.#texts.length === 1 ? this.#part(0) : new EncodedText(this.#texts.join(''))
    return this.#whole
  }
}

/** The characters that all searches of an answer may compare: a fraction of a second at worst. */
const maxComparisons = 300_000_000

/** The distance between bytes before which the characters are known. */
const markEvery = 64

/** A text and its UTF-8, with the number of characters before some of its bytes. */
class EncodedText {
  readonly text: string
  readonly #bytes: Uint8Array
  /** Absent where each byte is a character. */
  readonly #marks: readonly number[] | undefined

  constructor(text: string) {
    this.text = text
    this.#bytes = encoder.encode(text)
    if (this.#bytes.length > text.length) this.#marks = countCharactersBefore(this.#bytes)
  }

  /** Returns the characters of a range; undefined if it is not in the text, or has another text. */
  locate({ from, end }: ByteRange, text?: string): TextRange | undefined {
    if (end > this.#bytes.length || from > end) return undefined
    if (text !== undefined && !this.#has(text, { from, end })) return undefined
    return { start: this.#countBefore(from), end: this.#countBefore(end) }
  }

  read({ from, end }: ByteRange): string {
    if (!this.#marks) return this.text.slice(from, end)
    return decoder.decode(this.#bytes.subarray(from, end))
  }

  #has(text: string, { from, end }: ByteRange): boolean {
    if (!this.#marks) return text.length === end - from && this.text.startsWith(text, from)
    const bytes = encoder.encode(text)
    return bytes.length === end - from && bytes.every((byte, at) => byte === this.#bytes[from + at])
  }

  #countBefore(end: number): number {
    if (!this.#marks) return end
    const mark = Math.floor(end / markEvery)
    let count = this.#marks[mark] ?? 0
    for (let at = mark * markEvery; at < end; at++) if (isFirstByte(this.#bytes[at] ?? 0)) count++
    return count
  }
}

/** Returns the characters before each of the bytes that are `markEvery` apart. */
function countCharactersBefore(bytes: Uint8Array): readonly number[] {
  const counts: number[] = []
  let count = 0
  for (let at = 0; at < bytes.length; at++) {
    if (at % markEvery === 0) counts.push(count)
    if (isFirstByte(bytes[at] ?? 0)) count++
  }
  return [...counts, count]
}

/** True for the first byte of a character. */
function isFirstByte(byte: number): boolean {
  return (byte & 0xc0) !== 0x80
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
