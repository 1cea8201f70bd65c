import type { Annotation } from '../canonical/annotations.ts'
import { maxContentLength, type ProviderContent } from '../canonical/provider-content.ts'
import { type AnswerPart, carryContent, contentRules, isPlainText, writeCall } from './content.ts'
import { toAnnotations } from './grounding.ts'
import type { GeminiPart } from './response.ts'

/** Collects the parts of a streamed candidate. */
export class StreamedContent {
  readonly #parts: AnswerPart[] = []
  #text: TextRun | undefined
  #length = 0
  #isLost = false
  #grounding: unknown

  /** Adds a part. Google allows joining texts that are not signed, and no others. */
  add(part: GeminiPart, readJson: () => string): void {
    if (this.#isLost) return
    if (isPlainText(part)) return this.#addText(part)
    const json = readJson()
    this.#push({ part, readJson: () => json }, json.length)
  }

  /** Adds a call whose arguments came in pieces. */
  addCall(part: GeminiPart, args: string): void {
    if (!this.#isLost) this.#push({ part, readJson: () => writeCall(part, args) }, args.length)
  }

  /** Each later report about the sources replaces the earlier one. */
  ground(metadata: unknown): void {
    this.#grounding = metadata
  }

  /** Returns the parts at the end of the answer, if a message cannot bring them back. */
  finish(): ProviderContent | undefined {
    return this.#isLost ? undefined : carryContent(this.#parts)
  }

  listAnnotations(): readonly Annotation[] {
    if (this.#grounding === undefined) return []
    return toAnnotations(
      this.#grounding,
      this.#parts.map(({ part }) => contentRules.readText(part)),
    )
  }

  #addText({ text, thought }: GeminiPart): void {
    if (!text) return
    const isThought = thought === true
    if (this.#text?.isThought === isThought) {
      this.#text.text += text
      this.#count(text.length)
      return
    }
    const run = new TextRun(text, isThought)
    this.#push(run, text.length)
    this.#text = run
  }

  #push(part: AnswerPart, length: number): void {
    this.#text = undefined
    this.#parts.push(part)
    this.#count(length)
  }

  #count(length: number): void {
    this.#length += length
    if (this.#length <= maxContentLength) return
    this.#isLost = true
    this.#parts.length = 0
  }
}

/** Neighbouring texts of one kind. */
class TextRun implements AnswerPart {
  readonly isThought: boolean
  text: string

  constructor(text: string, isThought: boolean) {
    this.text = text
    this.isThought = isThought
  }

  get part(): GeminiPart {
    return { text: this.text, ...(this.isThought && { thought: true }) }
  }

  readJson(): string {
    return JSON.stringify(this.part)
  }
}
