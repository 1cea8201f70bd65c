import type { JsonObject } from '../../wire/json/parse.ts'
import { RawJson, stringifyJson } from '../../wire/json/raw.ts'
import { extractTexts } from '../../wire/json/text.ts'
import { type Annotation, countCharacters } from '../canonical/annotations.ts'
import { ContentCollector } from '../canonical/content-collector.ts'
import { PastCall } from '../canonical/past-call.ts'
import type { ProviderContent } from '../canonical/provider-content.ts'
import { toAnnotations } from './citations.ts'
import { carryContent } from './content.ts'
import type { BlockStart, Delta, ReasoningDelta } from './events.ts'

/** Collects the blocks of a streamed answer, in the form that they have in a whole one. */
export class StreamedContent {
  readonly #collector = new ContentCollector<StreamedBlock>()
  readonly #byIndex = new Map<number, StreamedBlock>()
  /** The length of the answer's text so far. */
  #characters = 0

  open(index: number, start: BlockStart): void {
    if (start.image !== undefined) this.#lose()
    else if (start.toolUse || start.toolResult) this.#open(index, new StreamedBlock(start, 0))
  }

  /** Adds a piece to a block. Texts and reasoning have no start. `json` is the text of the event. */
  add(index: number, delta: Delta, json: string): void {
    const start = this.#characters
    if (delta.text) this.#characters += countCharacters(delta.text)
    if (this.#collector.isLost) return
    const block = this.#byIndex.get(index) ?? this.#open(index, new StreamedBlock({}, start))
    const length = block.add(delta, json)
    if (length === undefined) return this.#lose()
    this.#collector.count(length)
    if (this.#collector.isLost) this.#lose()
  }

  #open(index: number, block: StreamedBlock): StreamedBlock {
    this.#collector.push(block)
    this.#byIndex.set(index, block)
    return block
  }

  #lose(): void {
    this.#collector.lose()
    this.#byIndex.clear()
  }

  /** Ends a block. Returns the annotations of its text. */
  close(index: number): readonly Annotation[] {
    return this.#byIndex.get(index)?.listAnnotations(this.#characters) ?? []
  }

  /** Returns the blocks at the end of the answer, if the message alone cannot carry them. */
  finish(): ProviderContent | undefined {
    const { blocks } = this.#collector
    if (!blocks) return undefined
    return carryContent(
      blocks.map(({ block }) => block),
      (index) => blocks[index]?.readJson() ?? '{}',
    )
  }
}

/** A block as it grows. */
class StreamedBlock {
  readonly #start: BlockStart
  readonly #from: number
  readonly #citations: { readonly value: unknown; readonly json: RawJson | undefined }[] = []
  readonly #results: RawJson[] = []
  #text = ''
  #thought = ''
  #signature = ''
  #data = ''
  #input = ''

  constructor(start: BlockStart, from: number) {
    this.#start = start
    this.#from = from
  }

  /** Returns the length of what was added; undefined for a delta of an unknown type. */
  add(delta: Delta, json: string): number | undefined {
    const { text, toolUse, toolResult, reasoningContent, citation } = delta
    if (typeof text === 'string') {
      this.#text += text
      return text.length
    }
    if (toolUse) {
      this.#input += toolUse.input ?? ''
      return toolUse.input?.length ?? 0
    }
    if (reasoningContent) return this.#think(reasoningContent)
    if (!toolResult && !citation) return undefined
    if (citation) this.#citations.push({ value: citation, json: readRaw(json, 'delta.citation') })
    else this.#results.push(...listRaw(json, 'delta.toolResult.*'))
    return json.length
  }

  #think({ text, signature, redactedContent }: ReasoningDelta): number {
    this.#thought += text ?? ''
    this.#signature += signature ?? ''
    this.#data += redactedContent ?? ''
    return (text ?? signature ?? redactedContent ?? '').length
  }

  listAnnotations(end: number): readonly Annotation[] {
    if (this.#citations.length === 0) return []
    const citations = this.#citations.map(({ value }) => value)
    return toAnnotations(citations, { start: this.#from, end })
  }

  get block(): JsonObject {
    const { toolUse, toolResult } = this.#start
    if (toolUse) return { toolUse: { ...toolUse, input: this.#inputObject } }
    if (toolResult) return { toolResult: { ...toolResult, content: this.#results } }
    if (this.#data !== '') return { reasoningContent: { redactedContent: this.#data } }
    if (this.#thought !== '' || this.#signature !== '') {
      const reasoningText = { text: this.#thought, signature: this.#signature }
      return { reasoningContent: { reasoningText } }
    }
    if (this.#citations.length === 0) return { text: this.#text }
    const content = [{ text: this.#text }]
    const citations = this.#citations.map(({ json }) => json)
    return { citationsContent: { content, citations } }
  }

  readJson(): string {
    return stringifyJson(this.block)
  }

  /** An input that was cut off is carried in the form in which it goes back. */
  get #inputObject(): object {
    const fields = { id: '', name: '', path: '', raw: {} }
    return new PastCall({ ...fields, arguments: this.#input }).object
  }
}

/** Returns the values at a pattern as they are written: parsing would round large numbers. */
function listRaw(json: string, pattern: string): RawJson[] {
  return [...extractTexts(json, pattern).values()].map((text) => new RawJson(text))
}

function readRaw(json: string, path: string): RawJson | undefined {
  return listRaw(json, path)[0]
}
