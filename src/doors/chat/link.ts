import type { ChatCall, OutputEstimate } from '../../core/chat.ts'
import type {
  AnswerBody,
  ChatEndpoint,
  ChatResult,
  DialectRequest,
  HeaderReader,
  ListedAnswer,
  StreamEnding,
  UpstreamError,
} from '../../core/endpoints.ts'
import type { FrameDecoder } from '../../core/frame.ts'
import type { Model } from '../../core/provider.ts'
import type { Steps } from '../../core/steps.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import type { LinkCall, WriterContext } from '../../data-plane/index.ts'
import type { StreamWriter } from '../../stream/stream-writer.ts'
import { createChatWriter } from './stream.ts'

/** A chat request on its way to one link. The endpoint speaks this API, so nothing is converted. */
export class ChatLink implements LinkCall {
  readonly link: Model
  readonly streamType: string | undefined
  readonly streamEnd: StreamEnding
  readonly writesAnswer: boolean
  readonly #call: ChatCall
  readonly #endpoint: ChatEndpoint

  constructor(call: ChatCall, link: Model) {
    this.link = link
    this.#call = call
    // A route for chat has only links with a chat endpoint.
    this.#endpoint = link.chat as ChatEndpoint
    this.streamType = this.#endpoint.streamType
    this.streamEnd = this.#endpoint.streamEnd
    this.writesAnswer = this.#endpoint.writesAnswers
  }

  *translateInSteps(): Steps<void> {
    try {
      yield* this.#endpoint.translateInSteps?.(this.#call) ?? []
    } catch (error) {
      if (!(error instanceof UntranslatableError)) throw error
    }
  }

  listUnsupported(): readonly string[] {
    return this.#endpoint.listUnsupported(this.#call)
  }

  estimateOutput(): OutputEstimate {
    return this.#endpoint.estimateOutput(this.#call)
  }

  buildRequest(): DialectRequest {
    return this.#endpoint.buildRequest(this.#call)
  }

  parseAnswer(body: AnswerBody, header: HeaderReader): ChatResult {
    return this.#endpoint.parseAnswer(body, this.#call, header)
  }

  parseAnswerInSteps(body: AnswerBody, header: HeaderReader): Steps<ChatResult> | undefined {
    return this.#endpoint.parseAnswerInSteps?.(body, this.#call, header)
  }

  createDecoder(header: HeaderReader): FrameDecoder {
    return this.#endpoint.createDecoder(this.#call, header)
  }

  writeEvents(body: AnswerBody): Uint8Array | undefined {
    return this.#endpoint.writeEvents?.(body)
  }

  readList(body: AnswerBody): Steps<ListedAnswer | undefined> | undefined {
    return this.#endpoint.readList?.(body)
  }

  createWriter(context: WriterContext): StreamWriter {
    return createChatWriter(context, this.#call.wantsUsageChunk)
  }

  parseError(status: number, body: string, header: HeaderReader): UpstreamError {
    return this.#endpoint.parseError(status, body, header)
  }
}
