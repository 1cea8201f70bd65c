import type { JsonObject } from '../../wire/json/parse.ts'
import { stringifyJson } from '../../wire/json/raw.ts'
import { extractMembers, extractTexts } from '../../wire/json/text.ts'
import { type Annotation, countCharacters } from '../canonical/annotations.ts'
import { ContentCollector } from '../canonical/content-collector.ts'
import { PastCall } from '../canonical/past-call.ts'
import type { ProviderContent } from '../canonical/provider-content.ts'
import type { ContentBlock } from './answer.ts'
import { toAnnotations } from './citations.ts'
import { carryContent } from './content.ts'
import type { Delta } from './events.ts'

/** Collects the blocks of a streamed answer, in the form that they have in a whole one. */
export class StreamedContent {
  readonly #collector = new ContentCollector<StreamedBlock>()
  readonly #byIndex = new Map<number, StreamedBlock>()
  /** The block that the last piece of text belongs to, and its index. */
  #textBlock: StreamedBlock | undefined
  #textIndex = -1
  /** The length of the answer's text so far. */
  #characters = 0

  /** Adds a block. `readJson` returns it as JSON text. */
  open(index: number, start: ContentBlock, readJson: () => string): void {
    const block = new StreamedBlock(start, readJson, this.#characters)
    this.#collector.push(block)
    this.#byIndex.set(index, block)
    if (start.type === 'text') this.#characters += countCharacters(start.text ?? '')
    // Only the other blocks may be long from the start.
    if (start.type !== 'text' && start.type !== 'tool_use') this.#collector.count(readJson().length)
  }

  /** Adds a piece to a block. `json` is the text of the event. */
  add(index: number, delta: Delta, json: string): void {
    if (delta.type === 'text_delta') return this.#addText(index, delta.text ?? '')
    if (this.#collector.isLost) return
    const block = this.#byIndex.get(index)
    if (!block?.add(delta, json)) this.#collector.lose()
    else this.#collector.count(measure(delta, json))
  }

  /** Most pieces are texts, and follow one of the same block. */
  #addText(index: number, piece: string): void {
    if (index !== this.#textIndex && !this.#collector.isLost) {
      this.#textBlock = this.#byIndex.get(index) ?? this.#openUnannounced(index)
      this.#textIndex = index
    }
    this.#characters += countCharacters(piece)
    if (this.#collector.isLost) return
    this.#textBlock?.addText(piece)
    this.#collector.count(piece.length)
  }

  /** Ends a block. Returns the annotations of its text. */
  close(index: number): readonly Annotation[] {
    const block = this.#byIndex.get(index)
    this.#byIndex.delete(index)
    this.#textBlock = undefined
    this.#textIndex = -1
    return block?.listAnnotations(this.#characters) ?? []
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

  /** Some compatible servers send no start of a text. */
  #openUnannounced(index: number): StreamedBlock | undefined {
    this.open(index, { type: 'text', text: '' }, () => '{"type":"text","text":""}')
    return this.#byIndex.get(index)
  }
}

function measure({ type, thinking, partial_json: input }: Delta, json: string): number {
  if (type === 'citations_delta' || type === 'signature_delta') return json.length
  return (thinking ?? input ?? '').length
}

/** A block as it grows. */
class StreamedBlock {
  readonly #start: ContentBlock
  readonly #readStart: () => string
  readonly #from: number
  readonly #citations: { readonly json: string; readonly value: unknown }[] = []
  #text: string
  #thinking: string
  #signature: unknown
  #input: string | undefined
  /** Members that a delta has set, as JSON. */
  #set: ReadonlyMap<string, string> = new Map()

  constructor(start: ContentBlock, readStart: () => string, from: number) {
    this.#start = start
    this.#readStart = readStart
    this.#from = from
    this.#text = start.text ?? ''
    this.#thinking = start.thinking ?? ''
    this.#signature = start['signature']
  }

  addText(piece: string): void {
    this.#text += piece
  }

  /** Adds a piece that is no text. Returns false for a delta of an unknown type. */
  add(delta: Delta, json: string): boolean {
    switch (delta.type) {
      case 'thinking_delta':
        this.#thinking += delta.thinking ?? ''
        return true
      case 'signature_delta':
        this.#signature = delta.signature
        return true
      case 'input_json_delta':
        this.#input = `${this.#input ?? ''}${delta.partial_json ?? ''}`
        return true
      case 'citations_delta':
        this.#citations.push({ json: readDelta(json, 'citation'), value: delta.citation })
        return true
      case 'compaction_delta':
        this.#set = extractMembers(readDelta(json))
        return true
      default:
        return false
    }
  }

  listAnnotations(end: number): readonly Annotation[] {
    const citations = this.#citations.map(({ value }) => value)
    const start = this.#from
    return citations.length === 0 ? [] : toAnnotations(citations, { start, end })
  }

  get block(): JsonObject {
    const citations = this.#citations.map(({ value }) => value)
    return {
      ...this.#start,
      text: this.#start.type === 'text' ? this.#text : undefined,
      signature: this.#signature,
      ...(citations.length > 0 && { citations }),
    }
  }

  readJson(): string {
    const { type } = this.#start
    const members = new Map(extractMembers(this.#readStart()))
    for (const [name, json] of this.#set) if (name !== 'type') members.set(name, json)
    if (type === 'text') members.set('text', JSON.stringify(this.#text))
    if (type === 'thinking') {
      members.set('thinking', JSON.stringify(this.#thinking))
      members.set('signature', JSON.stringify(this.#signature))
    }
    if (this.#citations.length > 0) {
      members.set('citations', `[${this.#citations.map(({ json }) => json).join(',')}]`)
    }
    if (this.#input) members.set('input', toInputJson(this.#input))
    return `{${[...members].map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`
  }
}

/** An input that was cut off is carried in the form in which it goes back. */
function toInputJson(text: string): string {
  return stringifyJson(
    new PastCall({ id: '', name: '', arguments: text, path: '', raw: {} }).object,
  )
}

function readDelta(json: string, ...path: string[]): string {
  const pattern = ['delta', ...path].join('.')
  return extractTexts(json, pattern).get(pattern) ?? '{}'
}
