import type { ChatRequest, ImagePart, OutputEstimate } from '../../core/chat.ts'
import type { ChatAnswer, NativeCall, NativeEndpoint } from '../../core/endpoints.ts'
import type { CacheLife, MemberLayout, ObjectLayout } from '../../core/layout.ts'
import type { BufferedBody, TokenEncoding } from '../../core/ports.ts'
import type { Model } from '../../core/provider.ts'
import { runAtOnce, type Steps } from '../../core/steps.ts'
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
import { readJsonBody } from '../../wire/json/body.ts'
import { isObject } from '../../wire/json/parse.ts'
import { extractTexts } from '../../wire/json/text.ts'
import type { TimeSlice } from '../../wire/time-slice.ts'
import { measureTools } from '../body-weight.ts'
import { BoundLinks } from '../bound-links.ts'
import type { NativeRequest } from '../native-link.ts'
import { ParsedBody } from '../parsed-body.ts'
import { RequestProofs } from '../request-proofs.ts'
import { readMember, readPrefix } from '../session.ts'
import {
  anyTarget,
  type ChatTarget,
  type DoorRequest,
  type ServedAnswer,
} from '../translated-link.ts'
import { convertAnswer } from '../written-answer.ts'
import { renderAnswer } from './answer.ts'
import { type ChatPlaces, type WrittenChat, writeChat } from './chat-request.ts'
import { estimatePrompt } from './estimate.ts'
import { messageForms } from './forms.ts'
import { listImages } from './images.ts'
import { matchMessages } from './match.ts'
import { NativeStreamWriter, readApiFacts } from './native.ts'
import { cutOwnBlocks, cutUnproven, hasUnsigned, listOwnProofs } from './own-blocks.ts'
import { locatePath } from './paths.ts'
import { checkMessagesRequest, type MessagesRequest } from './schema.ts'
import { MessagesStreamWriter } from './stream.ts'

/** Members that the gateway reads. Each may occur once, because upstreams differ in which duplicate counts. */
const unique = ['model', 'stream', 'max_tokens'] as const

const names = [...unique, 'system', 'tools', 'messages', 'metadata', 'stream_options'] as const

/** Reads a request of the Messages API, or throws LM-1001 with the field at fault. */
export async function readMessagesRequest({
  bytes,
  request,
  slice,
  isUtf8,
}: ReceivedRequest): Promise<ParsedMessages> {
  const matched = matchMessages(bytes, isUtf8)
  if (matched) return new ParsedMessages({ bytes, request, ...matched })
  await slice.pause()
  const { layout, value } = await readJsonBody(bytes, { names, unique, timeSlice: slice })
  const parsed = checkMessagesRequest(value)
  const own = listOwnProofs(parsed.messages)
  const proofs = new RequestProofs()
  await proofs.check(own, { values: layout.values, slice })
  const thinking = { hasOwnBlocks: own.length > 0, hasUnsigned: hasUnsigned(parsed.messages) }
  return new ParsedMessages({ bytes, request, layout, head: parsed, parsed, proofs, ...thinking })
}

type MessagesLayout = MemberLayout<(typeof names)[number]> &
  Pick<ObjectLayout<never>, 'values' | 'commas' | 'cacheLife'>

/** A Messages request as far as it is read. */
interface MessagesSource {
  readonly bytes: Uint8Array
  readonly layout: MessagesLayout
  /** Its headers and its query belong to the API. */
  readonly request: Pick<Request, 'headers' | 'url'>
  readonly head: Pick<MessagesRequest, 'model' | 'stream' | 'max_tokens'>
  /** Undefined when only the bytes were read: then it has neither images nor proofs of the gateway. */
  readonly parsed?: MessagesRequest
  readonly promptTokens?: number
  readonly proofs?: RequestProofs
  /** A message has thinking that the gateway has signed for another vendor. */
  readonly hasOwnBlocks?: boolean
  /** A message has thinking without a signature. */
  readonly hasUnsigned?: boolean
}

/** A Messages request. A heavy one does not stay parsed: it is parsed again when it is needed. */
export class ParsedMessages implements DoorCall, DoorRequest, NativeRequest {
  readonly model: string
  readonly stream: boolean
  readonly choices = 1
  readonly size: MessagesLayout
  readonly call: NativeCall
  readonly #maxTokens: number
  readonly #hasOwnBlocks: boolean
  readonly #hasUnsigned: boolean
  readonly #proofs: RequestProofs
  /** Undefined when they are among the blocks of the request. */
  readonly #images: readonly ImagePart[] | undefined
  readonly #body: ParsedBody<MessagesRequest>
  #promptTokens: number | undefined
  /** Where the parts of the latest chat request come from. */
  #written: { readonly target: ChatTarget; readonly places: ChatPlaces } | undefined
  readonly #links: BoundLinks

  constructor({ bytes, layout, request, head, parsed, ...rest }: MessagesSource) {
    this.#body = new ParsedBody({ bytes, values: layout.values, value: parsed })
    this.#links = new BoundLinks(this, { api: 'messages', body: this.#body })
    this.#promptTokens = rest.promptTokens
    this.#images = parsed ? undefined : []
    this.model = head.model
    this.stream = head.stream === true
    this.#maxTokens = head.max_tokens
    this.#hasOwnBlocks = rest.hasOwnBlocks ?? false
    this.#hasUnsigned = rest.hasUnsigned ?? false
    this.#proofs = rest.proofs ?? new RequestProofs()
    this.size = layout
    this.call = { bytes, layout, stream: this.stream, ...readApiFacts(request) }
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
    return this.#maxTokens
  }

  get session(): string | undefined {
    const metadata = readMember(this.call.bytes, this.size.spans.metadata)
    const user = isObject(metadata) ? metadata['user_id'] : undefined
    return typeof user === 'string' && user !== '' ? user : undefined
  }

  get prefix(): string | undefined {
    return readPrefix(this.call.bytes, this.size.spans)
  }

  /** True when the work on the request must yield to other requests. */
  get isHeavy(): boolean {
    return this.#body.isHeavy
  }

  /** True when the bytes are released as soon as an answer has begun. */
  get isLarge(): boolean {
    return this.#body.isLarge
  }

  prepareFor(link: Model, slice: TimeSlice): Promise<void> | undefined {
    return this.#links.prepareFor(link, slice)
  }

  toCountInput(encoding: TokenEncoding, output: string): TokenCountInput {
    return toChatCountInput({ encoding, request: runAtOnce(this.#write(anyTarget)).chat, output })
  }

  bind(link: Model): LinkCall {
    return this.#links.bind(link)
  }

  /** Drops the parsed form of a heavy request, and what was written from it. */
  forget(): void {
    if (!this.#body.mustForget) return
    void this.promptTokens
    this.#body.forget()
    this.#proofs.forget()
    this.#links.forget()
  }

  estimateOutput(): OutputEstimate {
    return { maxTokens: this.#maxTokens, isBounded: true, choices: 1 }
  }

  toNative({ refusesUnsigned = false }: Pick<NativeEndpoint, 'refusesUnsigned'>): NativeCall {
    if (refusesUnsigned && this.#hasUnsigned) {
      return cutUnproven(this.call, this.#body.value.messages)
    }
    return this.#hasOwnBlocks ? cutOwnBlocks(this.call, this.#body.value.messages) : this.call
  }

  createEarlyWriter(context: WriterContext): EarlyWriter {
    return this.createNativeWriter(context)
  }

  createNativeWriter(context: WriterContext): StreamWriter {
    return new NativeStreamWriter(context)
  }

  *toChat(target: ChatTarget): Steps<ChatRequest> {
    const { chat } = yield* this.#write(target)
    return chat
  }

  listDropped(target: ChatTarget): readonly string[] {
    return this.#placesFor(target).dropped
  }

  locate(path: string, target: ChatTarget): string {
    return locatePath(path, this.#placesFor(target))
  }

  convertAnswer(kept: KeptAnswer, slice: TimeSlice): BufferedBody | Promise<BufferedBody> {
    return convertAnswer(kept, { ...messageForms, asStream: this.stream, slice })
  }

  renderAnswer(answer: ChatAnswer, served: ServedAnswer): Steps<BufferedBody> {
    return renderAnswer(answer, served)
  }

  createWriter(context: WriterContext): StreamWriter {
    return new MessagesStreamWriter(context)
  }

  #placesFor(target: ChatTarget): ChatPlaces {
    if (this.#written?.target === target) return this.#written.places
    return runAtOnce(this.#write(target)).places
  }

  *#write(target: ChatTarget): Steps<WrittenChat> {
    const written = yield* writeChat(this.#body.value, {
      target,
      readInput: createInputReader(this.call.bytes),
      proofs: this.#proofs,
    })
    this.#written = { target, places: written.places }
    return written
  }
}

const decoder = new TextDecoder()

/**
 * Creates a reader of the inputs of calls as the client wrote them: parsing would round large numbers. It
 * scans the body at the first call.
 */
function createInputReader(bytes: Uint8Array): (path: string) => string {
  let inputs: ReadonlyMap<string, string> | undefined
  return (path) => {
    inputs ??= extractTexts(decoder.decode(bytes), 'messages.*.content.*.input')
    const input = inputs.get(path)
    return input === undefined || input === 'null' ? '{}' : input
  }
}
