import { validateAsSent } from '../../core/as-sent.ts'
import type { ChatRequest, ImagePart, OutputEstimate } from '../../core/chat.ts'
import type { ChatAnswer, NativeCall, NativeEndpoint } from '../../core/endpoints.ts'
import { invalidField } from '../../core/invalid-field.ts'
import type { CacheLife, MemberLayout, ObjectLayout } from '../../core/layout.ts'
import type { BufferedBody, Clock, TokenEncoding } from '../../core/ports.ts'
import type { Model } from '../../core/provider.ts'
import { runAtOnce, type Steps } from '../../core/steps.ts'
import { unixSeconds } from '../../core/unix-seconds.ts'
import type {
  DoorCall,
  EarlyWriter,
  KeptAnswer,
  LinkCall,
  ReceivedRequest,
  WriterContext,
} from '../../data-plane/index.ts'
import type { StreamWriter } from '../../stream/stream-writer.ts'
import { type TokenCountInput, toChatCountInput } from '../../tokens/index.ts'
import { parseObject, readJsonBody } from '../../wire/json/body.ts'
import { splice } from '../../wire/json/splice.ts'
import type { TimeSlice } from '../../wire/time-slice.ts'
import { measureTools } from '../body-weight.ts'
import { BoundLinks } from '../bound-links.ts'
import type { NativeRequest } from '../native-link.ts'
import { ParsedBody } from '../parsed-body.ts'
import { addProofs } from '../proofs.ts'
import { RequestProofs } from '../request-proofs.ts'
import { readPrefix, readTextMember } from '../session.ts'
import {
  anyTarget,
  type ChatTarget,
  type DoorRequest,
  type ServedAnswer,
} from '../translated-link.ts'
import { convertAnswer } from '../written-answer.ts'
import { type AnswerBase, renderAnswer } from './answer.ts'
import {
  type FittedMessages,
  fitMessages,
  listLeftOut,
  type ReadRequest,
  toChatRequest,
} from './chat-request.ts'
import { EarlyResponse } from './early.ts'
import { estimatePrompt } from './estimate.ts'
import { type ResponsesHead, type ResponsesRequest, responsesRequest } from './fields.ts'
import { responseForms } from './forms.ts'
import { listImages } from './images.ts'
import type { RequestBody } from './input.ts'
import { matchResponses } from './match.ts'
import { NativeResponsesWriter } from './native.ts'
import { cutOwnItems, cutUnproven, hasForeignText, listOwnProofs } from './own-items.ts'
import { locate } from './paths.ts'
import { readForChat } from './read.ts'
import { renderEcho } from './response.ts'
import { ResponsesStreamWriter } from './stream.ts'

/** Members that the gateway routes or prices by. Upstreams differ in which duplicate counts. */
const unique = ['model', 'stream', 'max_output_tokens'] as const

const names = [
  ...unique,
  'instructions',
  'input',
  'stream_options',
  'tools',
  'prompt_cache_key',
] as const

/** Reads a request of the Responses API, or throws LM-1001 with the field at fault. */
export async function readResponses({
  bytes,
  slice,
  clock,
  isUtf8,
}: Omit<ReceivedRequest, 'request'>): Promise<ParsedResponses> {
  const matched = matchResponses(bytes, isUtf8)
  if (matched) return new ParsedResponses({ bytes, clock, ...matched })
  await slice.pause()
  const { layout, value } = await readJsonBody(bytes, { names, unique, timeSlice: slice })
  const parsed = validate(value)
  const own = listOwnProofs(parsed)
  const proofs = new RequestProofs()
  await proofs.check(own, { values: layout.values, slice })
  const reasoning = { hasOwnItems: own.length > 0, hasForeignText: hasForeignText(parsed) }
  return new ParsedResponses({ bytes, clock, layout, head: parsed, parsed, proofs, ...reasoning })
}

type ResponsesLayout = MemberLayout<
  'model' | 'instructions' | 'input' | 'stream_options' | 'tools' | 'prompt_cache_key'
> &
  Pick<ObjectLayout<never>, 'values' | 'commas' | 'cacheLife'>

/** A request of the Responses API as far as it is read. */
interface ResponsesSource {
  readonly bytes: Uint8Array
  readonly layout: ResponsesLayout
  readonly clock: Clock
  readonly head: ResponsesHead
  /** Undefined when only the bytes were read: then it has neither images nor reasoning of the gateway. */
  readonly parsed?: ResponsesRequest
  readonly promptTokens?: number
  readonly proofs?: RequestProofs
  /** An item has reasoning that the gateway has encoded for another vendor. */
  readonly hasOwnItems?: boolean
  /** An item has reasoning that is plain text of another vendor. */
  readonly hasForeignText?: boolean
}

/** A request of the Responses API. A heavy one does not stay parsed: it is parsed again when needed. */
export class ParsedResponses implements DoorCall, DoorRequest, NativeRequest {
  readonly model: string
  readonly stream: boolean
  readonly choices = 1
  readonly size: ResponsesLayout
  readonly call: NativeCall
  readonly #clock: Clock
  readonly #createdAt: number
  readonly #maxOutputTokens: number | undefined
  readonly #hasOwnItems: boolean
  readonly #hasForeignText: boolean
  readonly #proofs: RequestProofs
  /** Undefined when they are among the items of the request. */
  readonly #images: readonly ImagePart[] | undefined
  readonly #body: ParsedBody<ResponsesRequest>
  #read: ReadRequest | undefined
  /** The messages for the latest target. */
  #fitted: FittedMessages | undefined
  #promptTokens: number | undefined
  #base: AnswerBase | undefined
  readonly #links: BoundLinks

  constructor({ bytes, layout, clock, head, parsed, ...rest }: ResponsesSource) {
    this.#body = new ParsedBody({ bytes, values: layout.values, value: parsed })
    this.#links = new BoundLinks(this, { api: 'responses', body: this.#body })
    this.#promptTokens = rest.promptTokens
    this.#images = parsed ? undefined : []
    this.#clock = clock
    this.#createdAt = unixSeconds(clock)
    this.model = head.model
    this.stream = head.stream === true
    this.#maxOutputTokens = head.max_output_tokens ?? undefined
    this.#hasOwnItems = rest.hasOwnItems ?? false
    this.#hasForeignText = rest.hasForeignText ?? false
    this.#proofs = rest.proofs ?? new RequestProofs()
    this.size = layout
    this.call = { bytes, layout, stream: this.stream, headers: {}, query: '' }
  }

  get images(): readonly ImagePart[] {
    return this.#images ?? listImages(this.#body.value)
  }

  /** The estimated tokens of the prompt, computed once. */
  get promptTokens(): number {
    const options = { proofs: this.#proofs, toolBytes: measureTools(this.size) }
    this.#promptTokens ??= estimatePrompt(this.#body.value, options)
    return this.#promptTokens
  }

  get cacheLife(): CacheLife {
    return this.size.cacheLife
  }

  get askedTokens(): number {
    return this.#maxOutputTokens ?? 0
  }

  get session(): string | undefined {
    return readTextMember(this.call.bytes, this.size.spans.prompt_cache_key)
  }

  get prefix(): string | undefined {
    const { instructions, tools, input } = this.size.spans
    return readPrefix(this.call.bytes, { system: instructions, tools, messages: input })
  }

  get isHeavy(): boolean {
    return this.#body.isHeavy
  }

  get isLarge(): boolean {
    return this.#body.isLarge
  }

  prepareFor(link: Model, slice: TimeSlice): Promise<void> | undefined {
    return this.#links.prepareFor(link, slice)
  }

  get #chatSource(): RequestBody {
    return { bytes: this.call.bytes, proofs: this.#proofs }
  }

  toCountInput(encoding: TokenEncoding, output: string): TokenCountInput {
    return toChatCountInput({ encoding, request: this.#chat, output })
  }

  /** The messages and tools of the request, as far as the chat API can express them. */
  get #chat(): ChatRequest {
    const { messages, chatTools } = this.#forChat
    return {
      model: this.model,
      messages: messages.flatMap(({ message, proofs = [] }) =>
        addProofs([message], proofs, anyTarget),
      ),
      tools: chatTools.tools.map(({ name, description, parameters }) => ({
        type: 'function',
        function: { name, description, parameters },
      })),
    }
  }

  bind(link: Model): LinkCall {
    return this.#links.bind(link)
  }

  /** Drops the parsed form of a heavy request, and all that was made of it. */
  forget(): void {
    if (!this.#body.mustForget) return
    void this.promptTokens
    if (this.#read) void this.#answerBase
    this.#body.forget()
    this.#read = undefined
    this.#proofs.forget()
    this.#fitted = undefined
    this.#links.forget()
  }

  *toChat(target: ChatTarget): Steps<ChatRequest> {
    this.#read ??= yield* readForChat(this.#body.value, this.#chatSource)
    yield
    const fitted = this.#fitFor(target)
    yield
    return yield* toChatRequest(this.#read, fitted)
  }

  listDropped(): readonly string[] {
    return listLeftOut(this.#forChat)
  }

  locate(path: string, target: ChatTarget): string {
    return locate(this.#forChat, path, this.#fitFor(target).messages)
  }

  convertAnswer(kept: KeptAnswer, slice: TimeSlice): BufferedBody | Promise<BufferedBody> {
    return convertAnswer(kept, { ...responseForms, asStream: this.stream, slice })
  }

  renderAnswer({ choices }: ChatAnswer, served: ServedAnswer): Steps<BufferedBody> {
    const completedAt = unixSeconds(this.#clock)
    const createdAt = this.#createdAt
    return renderAnswer({ ...this.#answerBase, choices, served, createdAt, completedAt })
  }

  createWriter(context: WriterContext): ResponsesStreamWriter {
    return new ResponsesStreamWriter(context, this.#answerBase)
  }

  toNative({ refusesUnsigned = false }: Pick<NativeEndpoint, 'refusesUnsigned'>): NativeCall {
    if (refusesUnsigned && this.#hasForeignText) return cutUnproven(this.call, this.#body.value)
    return this.#hasOwnItems ? cutOwnItems(this.call, this.#body.value) : this.call
  }

  /** A native link gets the client's own bound. */
  estimateOutput(): OutputEstimate {
    const bound = this.#maxOutputTokens
    return { maxTokens: bound ?? 0, isBounded: bound !== undefined, choices: 1 }
  }

  createEarlyWriter(context: WriterContext): EarlyWriter {
    // Validated when it was read.
    return new EarlyResponse(context, renderEcho(parseObject(this.#bare) as ResponsesRequest))
  }

  createNativeWriter(context: WriterContext): StreamWriter {
    return new NativeResponsesWriter(context, this.#bare)
  }

  /** The request without its input, which may be long. */
  get #bare(): Uint8Array {
    const input = this.size.spans.input.map((span) => ({ span, json: 'null' }))
    return splice(this.call.bytes, input)
  }

  get #forChat(): ReadRequest {
    this.#read ??= runAtOnce(readForChat(this.#body.value, this.#chatSource))
    return this.#read
  }

  #fitFor(target: ChatTarget): FittedMessages {
    if (this.#fitted?.target !== target) this.#fitted = fitMessages(this.#forChat, target)
    return this.#fitted
  }

  /** What answers repeat of the request. It stays when the request is dropped. */
  get #answerBase(): AnswerBase {
    this.#base ??= { echo: renderEcho(this.#body.value), names: this.#forChat.toolbox.names }
    return this.#base
  }
}

function validate(value: unknown): ResponsesRequest {
  const read = validateAsSent(responsesRequest, value)
  if (!read.success) throw invalidField(read.error)
  return read.data
}
