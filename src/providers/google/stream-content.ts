import type { Annotation } from '../canonical/annotations.ts'
import { ContentCollector } from '../canonical/content-collector.ts'
import type { ProviderContent } from '../canonical/provider-content.ts'
import { carryContent, contentRules, writeCall } from './content.ts'
import { AnswerSources, type SourceReports } from './grounding.ts'
import type { GeminiPart } from './response.ts'

/** Collects the parts of a streamed candidate. */
export class StreamedContent {
  readonly #collector = new ContentCollector<AnswerPart>()
  #text: TextRun | undefined
  #sources: AnswerSources | undefined

  /** Adds a part with more than a text. `readJson` returns it as JSON text. */
  add(part: GeminiPart, readJson: () => string): void {
    if (this.#collector.isLost) return
    const json = readJson()
    this.#push({ part, readJson: () => json }, json.length)
  }

  /** Adds a piece of text. Google allows joining texts that are not signed, and no others. */
  addText({ text, thought }: GeminiPart): void {
    if (!text || this.#collector.isLost) return
    const isThought = thought === true
    if (this.#text?.isThought === isThought) {
      this.#text.text += text
      this.#collector.count(text.length)
      return
    }
    const run = new TextRun(text, isThought)
    this.#push(run, text.length)
    this.#text = run
  }

  /** Adds a call whose arguments came in pieces. */
  addCall(part: GeminiPart, args: string): void {
    if (!this.#collector.isLost)
      this.#push({ part, readJson: () => writeCall(part, args) }, args.length)
  }

  /** Keeps what an event says about the sources of the answer. */
  report(reports: SourceReports): void {
    this.#sources ??= new AnswerSources()
    this.#sources.add(reports)
  }

  /** Returns the parts at the end of the answer, if the message alone cannot carry them. */
  finish(): ProviderContent | undefined {
    const { blocks } = this.#collector
    if (!blocks) return undefined
    return carryContent(
      blocks.map(({ part }) => part),
      (index) => blocks[index]?.readJson() ?? '{}',
    )
  }

  listAnnotations(): readonly Annotation[] {
    if (!this.#sources) return []
    const texts = (this.#collector.blocks ?? []).map(({ part }) => contentRules.readText(part))
    return this.#sources.toAnnotations(texts)
  }

  #push(part: AnswerPart, length: number): void {
    this.#text = undefined
    this.#collector.push(part)
    this.#collector.count(length)
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
