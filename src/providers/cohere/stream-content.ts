import { maxBlocks, maxContentLength, type ProviderContent } from '../canonical/provider-content.ts'
import { carryContent } from './content.ts'

/**
 * Collects the contents of a streamed answer, in the form that they have in a whole one. Apart from the collector
 * of the other vendors, which is one list: here texts, plan, calls and citations are separate members.
 */
export class StreamedContent {
  /** By the vendor's index. */
  readonly #parts = new Map<number, Part>()
  readonly #calls: Call[] = []
  readonly #citations: string[] = []
  #plan = ''
  #length = 0

  addPart(index: number, type: Part['type'], piece: string): void {
    let part = this.#parts.get(index)
    if (!part) this.#parts.set(index, (part = { type, text: '' }))
    if (this.#count(piece)) part.text += piece
  }

  addPlan(piece: string): void {
    if (this.#count(piece)) this.#plan += piece
  }

  addCall(id: string, name: string): void {
    this.#calls.push({ id, name, arguments: '' })
  }

  /** Adds a piece of the arguments of the call at this place. */
  addArguments(index: number, piece: string): void {
    const call = this.#calls[index]
    if (call && this.#count(piece)) call.arguments += piece
  }

  addCitation(json: string): void {
    if (this.#count(json)) this.#citations.push(json)
  }

  /** Returns the contents at the end of the answer, if the message alone cannot carry them. */
  finish(): ProviderContent | undefined {
    const count = this.#parts.size + this.#calls.length + this.#citations.length
    if (this.#length > maxContentLength || count > maxBlocks) return undefined
    const parts = [...this.#parts.values()].filter(({ text }) => text !== '')
    const isText = ({ type }: Part) => type === 'text'
    const shape = {
      texts: parts.filter(isText).length,
      thoughts: parts.filter((part) => !isText(part)).length,
      hasPlan: this.#plan !== '',
      calls: this.#calls.length,
      citations: this.#citations.length,
    }
    return carryContent(shape, () => ({
      parts: parts.map(({ type, text }) => JSON.stringify({ type, [type]: text })),
      plan: this.#plan,
      calls: this.#calls.map(writeCall),
      citations: this.#citations,
    }))
  }

  /** Returns false once the contents are too long to be carried. */
  #count({ length }: string): boolean {
    this.#length += length
    return this.#length <= maxContentLength
  }
}

interface Part {
  readonly type: 'text' | 'thinking'
  text: string
}

interface Call {
  readonly id: string
  readonly name: string
  arguments: string
}

function writeCall({ id, name, arguments: text }: Call): string {
  return JSON.stringify({ id, type: 'function', function: { name, arguments: text } })
}
