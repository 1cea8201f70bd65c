import { validateAsSent } from '../../core/as-sent.ts'
import {
  type ChatCall,
  type ChatHead,
  type ChatMessage,
  type ChatRequest,
  chatRequest,
  findOutputBound,
  type ImagePart,
  listImageParts,
} from '../../core/chat.ts'
import { invalidField } from '../../core/invalid-field.ts'
import type { CacheLife, MemberLayout, ObjectLayout } from '../../core/layout.ts'
import type { BufferedBody, TokenEncoding } from '../../core/ports.ts'
import type { Model } from '../../core/provider.ts'
import type {
  DoorCall,
  EarlyWriter,
  KeptAnswer,
  LinkCall,
  ReceivedRequest,
  WriterContext,
} from '../../data-plane/index.ts'
import { estimatePromptTokens, type TokenCountInput, toChatCountInput } from '../../tokens/index.ts'
import { readJsonBody } from '../../wire/json/body.ts'
import type { TimeSlice } from '../../wire/time-slice.ts'
import { measureTools } from '../body-weight.ts'
import { ParsedBody } from '../parsed-body.ts'
import { prepareLink } from '../prepare-link.ts'
import { readPrefix, readTextMember } from '../session.ts'
import { toCompletionStream, toWholeCompletion } from './forms.ts'
import { ChatLink } from './link.ts'
import { headNames, matchChat } from './match.ts'
import { createChatWriter } from './stream.ts'

/** Members that the gateway reads. Each may occur once, because upstreams differ in which duplicate counts. */
const unique = [
  'model',
  'stream',
  'n',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
] as const

const names = [...unique, 'stream_options', 'messages', 'tools', 'prompt_cache_key'] as const

/** Reads a chat completion request, or throws LM-1001 with the field at fault. */
export async function readChat({
  bytes,
  slice,
  isUtf8,
}: Pick<ReceivedRequest, 'bytes' | 'slice' | 'isUtf8'>): Promise<ParsedChat> {
  const matched = matchChat(bytes, isUtf8)
  if (matched) return new ParsedChat(matched)
  await slice.pause()
  const { layout, value } = await readJsonBody(bytes, { names, unique, timeSlice: slice })
  const request = validate(value)
  return new ParsedChat({ bytes, layout, head: pickHead(request), request })
}

/** Copies the short members, which stay when the request is dropped. */
function pickHead(request: ChatRequest): ChatHead {
  return Object.fromEntries(headNames.map((name) => [name, request[name]])) as ChatHead
}

type ChatLayout = MemberLayout<
  'model' | 'stream_options' | 'messages' | 'tools' | 'prompt_cache_key'
> &
  Pick<ObjectLayout<never>, 'values' | 'commas' | 'cacheLife'>

/** A chat request as far as it is read. */
interface ReadChat {
  readonly bytes: Uint8Array
  readonly layout: ChatLayout
  readonly head: ChatHead
  /** Undefined when only the bytes were read: then it has neither images nor a vendor's own blocks. */
  readonly request?: ChatRequest
  readonly promptTokens?: number
}

/** A chat request. A heavy one does not stay parsed: it is parsed again when it is needed. */
export class ParsedChat implements ChatCall, DoorCall {
  readonly bytes: Uint8Array
  readonly layout: ChatLayout
  readonly head: ChatHead
  readonly model: string
  readonly stream: boolean
  readonly wantsUsageChunk: boolean
  readonly wantsLogprobs: boolean
  readonly isMade = false
  readonly hasProviderContent: boolean
  readonly choices: number
  /** Undefined when they are among the parts of the request. */
  readonly #images: readonly ImagePart[] | undefined
  readonly #body: ParsedBody<ChatRequest>
  #promptTokens: number | undefined
  #bound: ChatLink | undefined

  constructor({ bytes, layout, head, request, promptTokens }: ReadChat) {
    this.bytes = bytes
    this.layout = layout
    this.head = head
    this.#body = new ParsedBody({ bytes, values: layout.values, value: request })
    this.#promptTokens = promptTokens
    this.#images = request ? undefined : []
    this.model = head.model
    this.stream = head.stream === true
    this.wantsUsageChunk = head.stream_options?.include_usage === true
    this.wantsLogprobs = head['logprobs'] === true
    this.hasProviderContent = request?.messages.some(hasProviderContent) ?? false
    this.choices = head.n ?? 1
  }

  get request(): ChatRequest {
    return this.#body.value
  }

  get images(): readonly ImagePart[] {
    return this.#images ?? listImageParts(this.request)
  }

  /** The estimated tokens of the prompt, computed once. */
  get promptTokens(): number {
    this.#promptTokens ??= estimatePromptTokens(this.request, measureTools(this.layout))
    return this.#promptTokens
  }

  get cacheLife(): CacheLife {
    return this.layout.cacheLife
  }

  get askedTokens(): number {
    return findOutputBound(this.head) ?? 0
  }

  get session(): string | undefined {
    return readTextMember(this.bytes, this.layout.spans.prompt_cache_key)
  }

  get prefix(): string | undefined {
    return readPrefix(this.bytes, this.layout.spans)
  }

  get isHeavy(): boolean {
    return this.#body.isHeavy
  }

  get isLarge(): boolean {
    return this.#body.isLarge
  }

  prepareFor(link: Model, slice: TimeSlice): Promise<void> | undefined {
    if (!this.isHeavy) return undefined
    const bound = this.bind(link)
    if (!bound.writesAnswer) return undefined
    return prepareLink(bound, { body: this.#body, slice })
  }

  toCountInput(encoding: TokenEncoding, output: string): TokenCountInput {
    return toChatCountInput({ encoding, request: this.request, output })
  }

  bind(link: Model): LinkCall {
    if (this.#bound?.link !== link) this.#bound = new ChatLink(this, link)
    return this.#bound
  }

  createEarlyWriter(context: WriterContext): EarlyWriter {
    return createChatWriter(context, false)
  }

  async convertAnswer({ body, isStream }: KeptAnswer, slice: TimeSlice): Promise<BufferedBody> {
    const whole = isStream ? await toWholeCompletion(body, slice) : body
    return this.stream ? toCompletionStream(whole, this.wantsUsageChunk) : whole
  }

  /** Drops the parsed form of a heavy request. */
  forget(): void {
    if (!this.#body.mustForget) return
    void this.promptTokens
    this.#body.forget()
  }
}

function hasProviderContent({ provider_content: content }: ChatMessage): boolean {
  return content !== undefined
}

function validate(value: unknown): ChatRequest {
  const read = validateAsSent(chatRequest, value)
  if (!read.success) throw invalidField(read.error)
  return read.data
}
