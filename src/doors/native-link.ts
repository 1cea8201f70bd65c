import type { OutputEstimate } from '../core/chat.ts'
import type {
  AnswerBody,
  AnswerResult,
  DialectRequest,
  HeaderReader,
  ListedAnswer,
  NativeAnswer,
  NativeCall,
  NativeEndpoint,
  StreamEnding,
  UpstreamError,
} from '../core/endpoints.ts'
import type { FrameDecoder } from '../core/frame.ts'
import type { Steps } from '../core/steps.ts'
import type { LinkCall, WriterContext } from '../data-plane/index.ts'
import type { StreamWriter } from '../stream/stream-writer.ts'

/** A request in an API that its upstream speaks too. */
export interface NativeRequest {
  /** As the client sent it. */
  readonly call: NativeCall
  /** Returns the request for the upstream, without reasoning of other vendors that it refuses. */
  toNative(endpoint: Pick<NativeEndpoint, 'refusesUnsigned'>): NativeCall
  estimateOutput(): OutputEstimate
  /** Creates the writer of a stream whose frames have the bytes of this API. */
  createNativeWriter(context: WriterContext): StreamWriter
}

/** A request on its way to a link that speaks the API of the client: nothing is translated. */
export class NativeLink implements LinkCall {
  readonly streamEnd: StreamEnding
  readonly writesAnswer = false
  readonly #request: NativeRequest
  readonly #endpoint: NativeEndpoint

  constructor(request: NativeRequest, endpoint: NativeEndpoint) {
    this.#request = request
    this.#endpoint = endpoint
    this.streamEnd = endpoint.streamEnd
  }

  listUnsupported(): readonly string[] {
    return []
  }

  estimateOutput(): OutputEstimate {
    return this.#request.estimateOutput()
  }

  buildRequest(): DialectRequest {
    return this.#endpoint.buildRequest(this.#request.toNative(this.#endpoint))
  }

  parseAnswer(body: AnswerBody, header: HeaderReader): AnswerResult<NativeAnswer> {
    return this.#endpoint.parseAnswer(body, header)
  }

  createDecoder(header: HeaderReader): FrameDecoder {
    return this.#endpoint.createDecoder(this.#request.call, header)
  }

  writeEvents(body: AnswerBody): Uint8Array | undefined {
    return this.#endpoint.writeEvents?.(body)
  }

  readList(body: AnswerBody): Steps<ListedAnswer | undefined> | undefined {
    return this.#endpoint.readList?.(body)
  }

  createWriter(context: WriterContext): StreamWriter {
    return this.#request.createNativeWriter(context)
  }

  parseError(status: number, body: string, header: HeaderReader): UpstreamError {
    return this.#endpoint.parseError(status, body, header)
  }
}
