import type { Annotation } from '../canonical/annotations.ts'
import { maxContentLength, type ProviderContent } from '../canonical/provider-content.ts'
import { carryContent, contentRules, writeCall } from './content.ts'
import { AnswerSources, type SourceReports } from './grounding.ts'
import type { GeminiPart } from './response.ts'

/** Collects the parts of a streamed candidate. */
export class StreamedContent {
  readonly #parts: AnswerPart[] = []
  #text: TextRun | undefined
  #length = 0
  #isLost = false
  #sources: AnswerSources | undefined

  /** Adds a part with more than a text. `readJson` returns it as JSON text. */
  add(part: GeminiPart, readJson: () => string): void {
    if (this.#isLost) return
    const json = readJson()
    this.#push({ part, readJson: () => json }, json.length)
  }

  /** Adds a piece of text. Google allows joining texts that are not signed, and no others. */
  addText({ text, thought }: GeminiPart): void {
    if (!text || this.#isLost) return
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

  /** Adds a call whose arguments came in pieces. */
  addCall(part: GeminiPart, args: string): void {
    if (!this.#isLost) this.#push({ part, readJson: () => writeCall(part, args) }, args.length)
  }

  /** Keeps what an event says about the sources of the answer. */
  report(reports: SourceReports): void {
    this.#sources ??= new AnswerSources()
    this.#sources.add(reports)
  }

  /** Returns the parts at the end of the answer, if a message cannot bring them back. */
  finish(): ProviderContent | undefined {
    if (this.#isLost) return undefined
    return carryContent(
      this.#parts.map(({ part }) => part),
      (index) => this.#parts[index]?.readJson() ?? '{}',
    )
  }

  listAnnotations(): readonly Annotation[] {
    if (!this.#sources) return []
    const texts = this.#parts.map(({ part }) => contentRules.readText(part))
    return this.#sources.toAnnotations(texts)
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

/** A part, and its JSON text with the numbers as the service wrote them. */
interface AnswerPart {
  readonly part: GeminiPart
  readonly readJson: () => string
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
