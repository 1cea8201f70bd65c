import type { ChatMessage, ContentPart } from '../../core/chat.ts'
import type { MadeMessage } from '../made-message.ts'
import type { ReturnedProof } from '../proofs.ts'

/** One part of a message's content, and its path. */
export interface PlacedPart {
  readonly part: ContentPart
  readonly path: string
}

export interface PlacedCall {
  readonly id: string
  /** The name of the chat function. */
  readonly name: string
  /** JSON text. */
  readonly arguments: string
  readonly path: string
}

/** The result of a tool call. */
export interface ToolResult {
  readonly callId: string
  readonly parts: readonly PlacedPart[]
  readonly path: string
}

/**
 * Joins the items of a conversation into messages: neighbouring reasoning, text and calls of the model
 * become one message.
 */
export class ConversationBuilder {
  readonly #messages: MadeMessage[] = []
  #answer: Answer | undefined

  addMessage(role: 'system' | 'user', parts: readonly PlacedPart[], path: string): void {
    this.#closeAnswer()
    this.#push({ role, content: toContent(parts) }, { path, parts })
  }

  addText(text: string, path: string): void {
    this.#openAnswer(path).texts.push(text)
  }

  addCall(call: PlacedCall): void {
    this.#openAnswer(call.path).calls.push(call)
  }

  addProof(proof: ReturnedProof, path: string): void {
    this.#openAnswer(path).proofs.push(proof)
  }

  addResult({ callId, parts, path }: ToolResult): void {
    this.#closeAnswer()
    const message = { role: 'tool', tool_call_id: callId, content: toResultContent(parts) }
    this.#push(message, { path, parts })
  }

  finish(): readonly MadeMessage[] {
    this.#closeAnswer()
    return this.#messages
  }

  #openAnswer(path: string): Answer {
    this.#answer ??= { path, texts: [], calls: [], proofs: [] }
    return this.#answer
  }

  /** A message without text and calls is left out: no vendor accepts reasoning alone. */
  #closeAnswer(): void {
    const answer = this.#answer
    if (!answer) return
    this.#answer = undefined
    const { path, texts, calls, proofs } = answer
    if (texts.length === 0 && calls.length === 0) return
    const message: ChatMessage = {
      role: 'assistant',
      content: texts.length > 0 ? texts.join('\n\n') : null,
      ...(calls.length > 0 && { tool_calls: calls.map(toChatCall) }),
    }
    this.#push(message, { path, calls: calls.map((call) => call.path), proofs })
  }

  #push(message: ChatMessage, { path, parts = [], calls = [], proofs = [] }: MessagePlaces): void {
    this.#messages.push({ message, path, parts: parts.map((part) => part.path), calls, proofs })
  }
}

interface MessagePlaces extends Partial<Pick<MadeMessage, 'calls' | 'proofs'>> {
  readonly path: string
  readonly parts?: readonly PlacedPart[]
}

/** An answer of the model as it grows. */
interface Answer {
  readonly path: string
  readonly texts: string[]
  readonly calls: PlacedCall[]
  readonly proofs: ReturnedProof[]
}

/** A single text is a string, because not every server of the chat API accepts a list. */
function toContent(parts: readonly PlacedPart[]): string | ContentPart[] {
  const [first] = parts
  return parts.length === 1 && typeof first?.part.text === 'string' && first.part.type === 'text'
    ? first.part.text
    : parts.map(({ part }) => part)
}

/** The texts of a result are one string, unless it has images or files. */
function toResultContent(parts: readonly PlacedPart[]): string | ContentPart[] {
  return parts.every(({ part }) => part.type === 'text')
    ? parts.map(({ part }) => part.text ?? '').join('\n')
    : parts.map(({ part }) => part)
}

function toChatCall({ id, name, arguments: text }: PlacedCall) {
  return { id, type: 'function', function: { name, arguments: text } }
}
