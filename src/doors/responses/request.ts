import { validateAsSent } from '../../core/as-sent.ts'
import type { ChatRequest, ImagePart, OutputEstimate } from '../../core/chat.ts'
import type { ChatAnswer, NativeCall } from '../../core/endpoints.ts'
import { invalidField } from '../../core/invalid-field.ts'
import type { MemberLayout, ObjectLayout } from '../../core/layout.ts'
import type { BufferedBody, Clock, TokenEncoding } from '../../core/ports.ts'
import type { Model } from '../../core/provider.ts'
import { unixSeconds } from '../../core/unix-seconds.ts'
import type {
  DoorCall,
  KeptAnswer,
  LinkCall,
  ReceivedRequest,
  WriterContext,
} from '../../data-plane/index.ts'
import type { StreamWriter } from '../../stream/stream-writer.ts'
import { estimatePromptTokens, type TokenCountInput, toChatCountInput } from '../../tokens/index.ts'
import { parseObject, readJsonBody } from '../../wire/json-body.ts'
import type { TimeSlice } from '../../wire/time-slice.ts'
import { isHeavyBody, isLargeBody, measureTools } from '../body-weight.ts'
import type { RequestSize } from '../made-chat.ts'
import { NativeLink, type NativeRequest } from '../native-link.ts'
import { addProofs } from '../proofs.ts'
import {
  anyTarget,
  type ChatTarget,
  type ServedAnswer,
  TranslatedLink,
  type TranslatedRequest,
} from '../translated-link.ts'
import { convertAnswer } from '../written-answer.ts'
import { type AnswerBase, renderAnswer } from './answer.ts'
import { listLeftOut, type ReadRequest, toChatRequest } from './chat-request.ts'
import { type ResponsesRequest, responsesRequest } from './fields.ts'
import { responseForms } from './forms.ts'
import { listImages } from './images.ts'
import { NativeResponsesWriter } from './native.ts'
import { cutOwnItems, hasOwnItems } from './own-items.ts'
import { locate } from './paths.ts'
import { readForChat } from './read.ts'
import { renderEcho } from './response.ts'
import { ResponsesStreamWriter } from './stream.ts'

/** Members that the gateway routes or prices by. Upstreams differ in which duplicate counts. */
const unique = ['model', 'stream', 'max_output_tokens'] as const

const names = [...unique, 'stream_options', 'tools'] as const

/** Reads a request of the Responses API, or throws LM-1001 with the field at fault. */
export async function readResponses({ bytes, slice, clock }: ReceivedRequest): Promise<DoorCall> {
  const { layout, value } = await readJsonBody(bytes, { names, unique, timeSlice: slice })
  return new ParsedResponses({ bytes, layout, clock }, value)
}

interface Received {
  readonly bytes: Uint8Array
  readonly layout: MemberLayout<'model' | 'stream_options' | 'tools'> &
    Pick<ObjectLayout<never>, 'values' | 'commas'>
  readonly clock: Clock
}

/** A request of the Responses API. A heavy one does not stay parsed: it is parsed again when needed. */
class ParsedResponses implements DoorCall, TranslatedRequest, NativeRequest {
  readonly model: string
  readonly stream: boolean
  readonly choices = 1
  readonly #received: Received
  readonly #createdAt: number
  readonly #maxOutputTokens: number | undefined
  readonly #hasOwnItems: boolean
  #request: ResponsesRequest | undefined
  #read: ReadRequest | undefined
  /** Of `chat`, in which nothing depends on a link. */
  #promptTokens: number | undefined
  #base: AnswerBase | undefined
  readonly #links = new Map<Model, LinkCall>()

  /** Throws LM-1001 for a value that is not a request. */
  constructor(received: Received, value: unknown) {
    this.#received = received
    this.#createdAt = unixSeconds(received.clock)
    const request = validate(value)
    this.#request = request
    this.model = request.model
    this.stream = request.stream === true
    this.#maxOutputTokens = request.max_output_tokens ?? undefined
    this.#hasOwnItems = hasOwnItems(request)
  }

  get size(): RequestSize {
    return this.#received.layout
  }

  get images(): readonly ImagePart[] {
    return listImages(this.#parsed)
  }

  /** The estimated tokens of the prompt, computed once. */
  get promptTokens(): number {
    this.#promptTokens ??= estimatePromptTokens(this.#chat, measureTools(this.#received.layout))
    return this.#promptTokens
  }

  get isHeavy(): boolean {
    const { bytes, layout } = this.#received
    return isHeavyBody(bytes, layout.values)
  }

  get isLarge(): boolean {
    return isLargeBody(this.#received.bytes)
  }

  toCountInput(encoding: TokenEncoding, output: string): TokenCountInput {
    return toChatCountInput({ encoding, request: this.#chat, output })
  }

  /** The messages and tools of the request, as far as the chat API can express them. */
  get #chat(): ChatRequest {
    const { turns, chatTools } = this.#forChat
    return {
      model: this.model,
      messages: turns.map(({ message, proofs }) => addProofs(message, proofs, anyTarget)),
      tools: chatTools.tools.map(({ name, description, parameters }) => ({
        type: 'function',
        function: { name, description, parameters },
      })),
    }
  }

  bind(link: Model): LinkCall {
    const known = this.#links.get(link)
    if (known) return known
    // The chat requests of a heavy call take much memory, so only one is kept.
    if (this.isHeavy) this.#links.clear()
    const endpoint = link.native.responses
    const bound = endpoint ? new NativeLink(this, endpoint) : new TranslatedLink(this, link)
    this.#links.set(link, bound)
    return bound
  }

  /** Drops the parsed form of a heavy request, and all that was made of it. */
  forget(): void {
    if (!this.isHeavy || !this.#request) return
    void this.promptTokens
    void this.#answerBase
    this.#request = undefined
    this.#read = undefined
    this.#links.clear()
  }

  toChat(target: ChatTarget): ChatRequest {
    return toChatRequest(this.#forChat, target)
  }

  listDropped(): readonly string[] {
    return listLeftOut(this.#forChat)
  }

  locate(path: string): string {
    return locate(this.#forChat, path)
  }

  convertAnswer(kept: KeptAnswer, slice: TimeSlice): BufferedBody | Promise<BufferedBody> {
    return convertAnswer(kept, { ...responseForms, asStream: this.stream, slice })
  }

  renderAnswer({ choices }: ChatAnswer, served: ServedAnswer): BufferedBody {
    const completedAt = unixSeconds(this.#received.clock)
    const createdAt = this.#createdAt
    return renderAnswer({ ...this.#answerBase, choices, served, createdAt, completedAt })
  }

  createWriter(context: WriterContext): ResponsesStreamWriter {
    return new ResponsesStreamWriter(context, this.#answerBase)
  }

  get call(): NativeCall {
    const { bytes, layout } = this.#received
    return { bytes, layout, stream: this.stream, headers: {}, query: '' }
  }

  toNative(): NativeCall {
    return this.#hasOwnItems ? cutOwnItems(this.call, this.#parsed) : this.call
  }

  /** A native link gets the client's own bound. */
  estimateOutput(): OutputEstimate {
    const bound = this.#maxOutputTokens
    return { maxTokens: bound ?? 0, isBounded: bound !== undefined, choices: 1 }
  }

  createNativeWriter(context: WriterContext): StreamWriter {
    return new NativeResponsesWriter(context, this.#answerBase.echo)
  }

  get #parsed(): ResponsesRequest {
    this.#request ??= validate(parseObject(this.#received.bytes))
    return this.#request
  }

  get #forChat(): ReadRequest {
    this.#read ??= readForChat(this.#parsed, this.#received.bytes)
    return this.#read
  }

  /** What answers repeat of the request. It stays when the request is dropped. */
  get #answerBase(): AnswerBase {
    this.#base ??= { echo: renderEcho(this.#parsed), names: this.#forChat.toolbox.names }
    return this.#base
  }
}

function validate(value: unknown): ResponsesRequest {
  const read = validateAsSent(responsesRequest, value)
  if (!read.success) throw invalidField(read.error)
  return read.data
}
