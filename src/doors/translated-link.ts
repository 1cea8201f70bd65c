import type { ChatRequest, OutputEstimate } from '../core/chat.ts'
import type {
  AnswerBody,
  AnswerResult,
  ChatAnswer,
  ChatEndpoint,
  ChatResult,
  DialectRequest,
  HeaderReader,
  ListedAnswer,
  NativeAnswer,
  RequestForm,
  StreamEnding,
  UpstreamError,
} from '../core/endpoints.ts'
import type { FrameDecoder } from '../core/frame.ts'
import type { BufferedBody } from '../core/ports.ts'
import type { Model } from '../core/provider.ts'
import { runAtOnce, type Steps } from '../core/steps.ts'
import { UntranslatableError } from '../core/untranslatable-error.ts'
import type { Usage } from '../core/usage.ts'
import type { LinkCall, WriterContext } from '../data-plane/index.ts'
import type { StreamWriter } from '../stream/stream-writer.ts'
import { MadeChat, type RequestSize } from './made-chat.ts'

/** A request of another API than chat completions, as its door translates it. */
export interface DoorRequest {
  /** The size of the client's body. */
  readonly size: RequestSize
  readonly stream: boolean
  /** Writes the request as chat completions. Throws `UntranslatableError` with a path of this API. */
  toChat(target: ChatTarget): Steps<ChatRequest>
  /** Lists the fields that chat completions cannot carry to this target, as paths of this API. */
  listDropped(target: ChatTarget): readonly string[]
  /** Fields of the chat request that clients send unasked: they are left out without a word. */
  readonly unsaid?: ReadonlySet<string>
  /** Returns the path in this API of what is at a path of the chat request. */
  locate(path: string, target: ChatTarget): string
  /** Renders an answer in this API. */
  renderAnswer(answer: ChatAnswer, served: ServedAnswer): Steps<BufferedBody>
  /** Creates the writer of a stream in this API. It must not hold the request. */
  createWriter(context: WriterContext): StreamWriter
}

/** The link that a chat request is written for. */
export interface ChatTarget extends RequestForm {
  /** The client-facing id of the model. */
  readonly id: string
  /** The vendor's name for the model. */
  readonly model: string
  /** The bound on the output of the model, in tokens; undefined when not configured. */
  readonly maxOutputTokens: number | undefined
}

/** For counts, where it does not matter what an upstream takes. */
export const anyTarget: ChatTarget = Object.freeze({
  id: '',
  model: '',
  maxOutputTokens: undefined,
  boundField: 'max_tokens',
  asksStreamUsage: false,
  takesCacheControl: false,
  takesThinkingBlocks: false,
  takesTopK: false,
  takesResultMedia: true,
  takesClientTools: true,
  takesResultErrors: true,
  takesFileAddresses: true,
  ignoresUnknown: true,
})

/** What an answer says besides its content. */
export interface ServedAnswer {
  readonly usage: Usage
  /** The client-facing id of the model that has answered. */
  readonly model: string
}

/** What requests are written for, made once for each link. */
const targets = new WeakMap<Model, ChatTarget>()

function findTarget(link: Model, { form }: ChatEndpoint): ChatTarget {
  const known = targets.get(link)
  if (known) return known
  const { id, upstreamId: model, maxOutputTokens } = link
  const target = { ...form, id, model, maxOutputTokens }
  targets.set(link, target)
  return target
}

/** A request on its way to a link that speaks another API: by way of chat completions. */
export class TranslatedLink implements LinkCall {
  readonly streamType: string | undefined
  readonly streamEnd: StreamEnding
  readonly writesAnswer = true
  readonly #request: DoorRequest
  readonly #endpoint: ChatEndpoint
  readonly #model: string
  readonly #target: ChatTarget
  readonly #made: MadeChat

  constructor(request: DoorRequest, link: Model) {
    this.#request = request
    // A route for chat has only links with a chat endpoint.
    this.#endpoint = link.chat as ChatEndpoint
    this.#model = link.id
    this.#target = findTarget(link, this.#endpoint)
    const { stream, size } = request
    this.#made = new MadeChat(() => request.toChat(this.#target), { stream, size })
    this.streamType = this.#endpoint.streamType
    this.streamEnd = this.#endpoint.streamEnd
  }

  *translateInSteps(): Steps<void> {
    try {
      yield* this.#made.writeInSteps()
      yield
      yield* this.#endpoint.translateInSteps?.(this.#made) ?? []
    } catch (error) {
      if (!(error instanceof UntranslatableError)) throw error
    }
  }

  listUnsupported(): readonly string[] {
    const chat = this.#chat
    const dropped = this.#inOwnPaths(() => this.#endpoint.listUnsupported(chat))
    const { unsaid } = this.#request
    return [
      ...this.#request.listDropped(this.#target),
      ...dropped.filter((path) => !unsaid?.has(path)).map((path) => this.#locate(path)),
    ]
  }

  estimateOutput(): OutputEstimate {
    const chat = this.#chat
    return this.#inOwnPaths(() => this.#endpoint.estimateOutput(chat))
  }

  buildRequest(): DialectRequest {
    return this.#endpoint.buildRequest(this.#made)
  }

  parseAnswer(body: AnswerBody, header: HeaderReader): AnswerResult<NativeAnswer> {
    return this.#toNative(this.#endpoint.parseAnswer(body, this.#made, header))
  }

  *parseAnswerInSteps(body: AnswerBody, header: HeaderReader): Steps<AnswerResult<NativeAnswer>> {
    const steps = this.#endpoint.parseAnswerInSteps?.(body, this.#made, header)
    return steps ? this.#toNative(yield* steps) : this.parseAnswer(body, header)
  }

  #toNative(result: ChatResult): AnswerResult<NativeAnswer> {
    if (!result.ok) return result
    const { answer } = result
    const renderInSteps = (usage: Usage) =>
      this.#request.renderAnswer(answer, { usage, model: this.#model })
    const render = (usage: Usage) => runAtOnce(renderInSteps(usage))
    return { ok: true, answer: { ...answer, render, renderInSteps } }
  }

  createDecoder(header: HeaderReader): FrameDecoder {
    return this.#endpoint.createDecoder(this.#made, header)
  }

  writeEvents(body: AnswerBody): Uint8Array | undefined {
    return this.#endpoint.writeEvents?.(body)
  }

  readList(body: AnswerBody): Steps<ListedAnswer | undefined> | undefined {
    return this.#endpoint.readList?.(body)
  }

  createWriter(context: WriterContext): StreamWriter {
    return this.#request.createWriter(context)
  }

  parseError(status: number, body: string, header: HeaderReader): UpstreamError {
    return this.#endpoint.parseError(status, body, header)
  }

  /** Drops the translated request, which is made again when it is needed. */
  forget(): void {
    this.#made.forget()
  }

  /** The request, once it is written: then errors have the paths of the client's own API. */
  get #chat(): MadeChat {
    void this.#made.request
    return this.#made
  }

  /** Names the field that a vendor cannot express as the client's API does. */
  #inOwnPaths<Value>(read: () => Value): Value {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof UntranslatableError) || error.param === undefined) throw error
      const path = this.#locate(error.param)
      throw new UntranslatableError(error.message.replace(error.param, path), path)
    }
  }

  #locate(path: string): string {
    return this.#request.locate(path, this.#target)
  }
}
