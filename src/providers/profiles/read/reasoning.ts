import type { PastReasoning, ReasoningForm } from '../../../core/past-reasoning.ts'
import { isObject, type JsonObject } from '../../../wire/json/parse.ts'
import { joinPieces } from '../entries.ts'

/** What one delta, or one message, has of reasoning. */
export interface ReasoningPiece {
  readonly form: ReasoningForm
  /** What a person may read. */
  readonly text: string
  /** The entries of `reasoning_details`, or the thinking chunks. */
  readonly entries: readonly JsonObject[]
}

/**
 * Reads the reasoning of a delta or a message, under whatever name it comes; undefined when there is none.
 * Several names may hold the same reasoning: the one with the most counts.
 */
export function readReasoning(given: JsonObject): ReasoningPiece | undefined {
  const plain = readPlain(given)
  const details = given['reasoning_details']
  if (Array.isArray(details)) {
    const entries = details.filter(isObject)
    return {
      form: 'reasoning_details',
      text: plain?.text || entries.map(readText).join(''),
      entries,
    }
  }
  if (plain) return plain
  const { content } = given
  const chunks = Array.isArray(content) ? content.filter(isThinking) : []
  if (chunks.length === 0) return undefined
  return { form: 'chunks', text: chunks.map(readChunk).join(''), entries: chunks }
}

function readPlain({
  reasoning_content: named,
  reasoning,
}: JsonObject): ReasoningPiece | undefined {
  if (typeof named === 'string' && (named !== '' || typeof reasoning !== 'string')) {
    return { form: 'reasoning_content', text: named, entries: [] }
  }
  if (typeof reasoning === 'string') return { form: 'reasoning', text: reasoning, entries: [] }
  // Some servers wrap the text.
  const wrapped = isObject(reasoning) ? readText(reasoning) : ''
  return wrapped === '' ? undefined : { form: 'reasoning', text: wrapped, entries: [] }
}

function readText({ text, summary, content }: JsonObject): string {
  const found = [text, summary, content].find((value) => typeof value === 'string')
  return typeof found === 'string' ? found : ''
}

function isThinking(part: unknown): part is JsonObject {
  return isObject(part) && part['type'] === 'thinking'
}

function readChunk({ thinking }: JsonObject): string {
  if (typeof thinking === 'string') return thinking
  return Array.isArray(thinking) ? thinking.filter(isObject).map(readText).join('') : ''
}

/** Collects the reasoning of one choice until what follows it, as its upstream wants it back. */
export class ReasoningCollector {
  readonly #maker: Pick<PastReasoning, 'model' | 'lineage'>
  #form: ReasoningForm | undefined
  #texts: string[] = []
  #entries: JsonObject[] = []

  constructor(maker: Pick<PastReasoning, 'model' | 'lineage'>) {
    this.#maker = maker
  }

  /** True when nothing has come that could go back. */
  get isEmpty(): boolean {
    return this.#form === undefined
  }

  /** True when what has come has no text and no entries. */
  get isBlank(): boolean {
    return this.#entries.length === 0 && this.#texts.every((text) => text === '')
  }

  add({ form, text, entries }: ReasoningPiece): void {
    this.#form = this.#form === 'reasoning_details' ? this.#form : form
    this.#texts.push(text)
    for (const entry of entries) this.#entries.push(entry)
  }

  /** Returns what has been collected, and begins anew. `gap` is the white space behind closing tags. */
  take(gap?: string): PastReasoning {
    const past: PastReasoning = {
      ...this.#maker,
      form: this.#form,
      text: this.#texts.join(''),
      ...(this.#hasEntries && { entries: joinPieces(this.#entries) }),
      ...(gap !== undefined && gap !== '' && { gap }),
    }
    this.#form = undefined
    this.#texts = []
    this.#entries = []
    return past
  }

  get #hasEntries(): boolean {
    return this.#form === 'reasoning_details' || this.#form === 'chunks'
  }
}
