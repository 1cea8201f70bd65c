import type { ChatMessage, ContentPart } from '../../core/chat.ts'
import type { Proof } from '../proofs.ts'

/** A message of the chat API, and where its parts are in the client's request. */
export interface Turn {
  readonly message: ChatMessage
  /** The dotted path of the item, or of the first of several. */
  readonly path: string
  /** The paths of the parts of its content. */
  readonly parts: readonly string[]
  /** The paths of its tool calls. */
  readonly calls: readonly string[]
  /** What the client returned of the reasoning that led to it. */
  readonly proofs: readonly Proof[]
}

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

/** The result of a tool call. Its media cannot be in a tool message of the chat API. */
export interface ToolResult {
  readonly callId: string
  readonly text: string
  readonly media: readonly PlacedPart[]
  readonly path: string
}

/**
 * Joins the items of a conversation into messages: neighbouring reasoning, text and calls of the model
 * become one message.
 */
export class ConversationBuilder {
  readonly #turns: Turn[] = []
  #answer: Answer | undefined
  /** The media in the results since the last message that was no result. */
  #media: PlacedPart[] = []

  addMessage(role: 'system' | 'user', parts: readonly PlacedPart[], path: string): void {
    this.#close()
    this.#push({ role, content: toContent(parts) }, { path, parts })
  }

  addText(text: string, path: string): void {
    this.#openAnswer(path).texts.push(text)
  }

  addCall(call: PlacedCall): void {
    this.#openAnswer(call.path).calls.push(call)
  }

  addProof(proof: Proof, path: string): void {
    this.#openAnswer(path).proofs.push(proof)
  }

  addResult({ callId, text, media, path }: ToolResult): void {
    this.#closeAnswer()
    const content = text === '' && media.length > 0 ? resultFollows : text
    this.#push({ role: 'tool', tool_call_id: callId, content }, { path })
    if (media.length === 0) return
    const heading = { type: 'text', text: `Content of the result of tool call ${callId}:` }
    this.#media.push({ part: heading, path }, ...media)
  }

  finish(): readonly Turn[] {
    this.#close()
    return this.#turns
  }

  #openAnswer(path: string): Answer {
    if (this.#answer) return this.#answer
    this.#closeResults()
    this.#answer = { path, texts: [], calls: [], proofs: [] }
    return this.#answer
  }

  #close(): void {
    this.#closeAnswer()
    this.#closeResults()
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

  /** Media follow the last of neighbouring results: a tool message of the chat API holds only text. */
  #closeResults(): void {
    const media = this.#media
    const [first] = media
    if (!first) return
    this.#media = []
    this.#push(
      { role: 'user', content: media.map(({ part }) => part) },
      { path: first.path, parts: media },
    )
  }

  #push(
    message: ChatMessage,
    { path, parts = [], calls = [], proofs = [] }: Omit<Partial<Turn>, 'parts'> & TurnPlaces,
  ): void {
    this.#turns.push({ message, path, parts: parts.map((part) => part.path), calls, proofs })
  }
}

interface TurnPlaces {
  readonly path: string
  readonly parts?: readonly PlacedPart[]
}

/** The text of a tool message whose result has only media. */
const resultFollows = 'The result is in the next user message.'

/** An answer of the model as it grows. */
interface Answer {
  readonly path: string
  readonly texts: string[]
  readonly calls: PlacedCall[]
  readonly proofs: Proof[]
}

/** A single text is a string, because not every server of the chat API accepts a list. */
function toContent(parts: readonly PlacedPart[]): string | ContentPart[] {
  const [first] = parts
  return parts.length === 1 && typeof first?.part.text === 'string' && first.part.type === 'text'
    ? first.part.text
    : parts.map(({ part }) => part)
}

function toChatCall({ id, name, arguments: text }: PlacedCall) {
  return { id, type: 'function', function: { name, arguments: text } }
}
