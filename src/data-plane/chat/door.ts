import type { Api } from '../../core/capability.ts'
import type { ImagePart, OutputEstimate } from '../../core/chat.ts'
import type {
  AnswerBody,
  AnswerResult,
  DialectRequest,
  HeaderReader,
  ListedAnswer,
  NativeAnswer,
  StreamEnding,
  UpstreamError,
} from '../../core/endpoints.ts'
import type { FrameDecoder } from '../../core/frame.ts'
import type { RequestId } from '../../core/ids.ts'
import type { CacheLife } from '../../core/layout.ts'
import type { BufferedBody, Clock, TokenEncoding } from '../../core/ports.ts'
import type { Model } from '../../core/provider.ts'
import type { ErrorForm } from '../../core/reply.ts'
import type { Steps } from '../../core/steps.ts'
import type { StreamWriter } from '../../stream/stream-writer.ts'
import type { TokenCountInput } from '../../tokens/index.ts'
import type { TimeSlice } from '../../wire/time-slice.ts'
import type { KeptAnswer } from '../cache/use.ts'
import type { ReceivedRequest } from '../serve/received-request.ts'

/** One API for chat that the gateway offers to clients. */
export interface ChatDoor {
  readonly api: Api
  /**
   * The paths that are POSTed to, as the router has them. A model that `:model+` names in a path is written into the
   * body, in place of the body's own; a door that leaves it out of the body reads the address by itself.
   */
  readonly paths: readonly string[]
  /** Paths of the API that do not exist here, each with the reason. */
  readonly absent?: Readonly<Record<string, string>>
  /** The form of errors and headers; by default that of chat completions. */
  readonly form?: ErrorForm
  /** Reads a request. Throws LM-1001 with the field at fault, as this API names it. */
  read(received: ReceivedRequest): Promise<DoorCall>
}

/** One request in the API of its client. */
export interface DoorCall {
  /** The id of the model that the client names. */
  readonly model: string
  readonly stream: boolean
  /** The media type of the client's stream; by default that of server-sent events. */
  readonly streamType?: string | undefined
  /** How many answers the client asks for. */
  readonly choices: number
  /** The images of the request, with their paths in this API. */
  readonly images: readonly ImagePart[]
  /** The estimated tokens of the prompt. */
  readonly promptTokens: number
  /** The bound on the output that the request asks for, in tokens; 0 without one. */
  readonly askedTokens: number
  /** How long the request asks vendors to keep its prompt in their caches. */
  readonly cacheLife: CacheLife
  /** What the body names its session by; undefined when it names none. */
  readonly session: string | undefined
  /**
   * The beginning of the prompt, by which requests without a session are kept together: the text of the system, the
   * tools and the first message of the user. Undefined where that is short.
   */
  readonly prefix: string | undefined
  /** True when the work on the request must yield to other requests. */
  readonly isHeavy: boolean
  /** True when the bytes are released as soon as an answer has begun. */
  readonly isLarge: boolean
  /**
   * Does in steps what a link needs of a heavy request: parses and translates it, unless that is done. Undefined, or
   * absent, when nothing is left that takes long. Rejects only when the scope of the slice has ended.
   */
  prepareFor?(link: Model, slice: TimeSlice): Promise<void> | undefined
  /** Binds the request to a link. Throws `UntranslatableError` when the link cannot express it. */
  bind(link: Model): LinkCall
  /** Prepares the exact count of the request and its generated text. */
  toCountInput(encoding: TokenEncoding, output: string): TokenCountInput
  /** Creates what writes to the client before a link has sent content. It must not hold the bytes of the request. */
  createEarlyWriter(context: WriterContext): EarlyWriter
  /** Drops the parsed form of a heavy request, which is parsed again when it is needed. */
  forget(): void
  /**
   * Returns an answer that the gateway wrote for an equal request in the form that this one asks for. Absent
   * on doors for which the gateway writes no answers.
   */
  convertAnswer?(kept: KeptAnswer, slice: TimeSlice): BufferedBody | Promise<BufferedBody>
}

/** One request of a door on its way to one link, and the way of the answer back. */
export interface LinkCall {
  /**
   * Does the work of a heavy request in steps; the other functions then use it. Absent where nothing is translated.
   * An `UntranslatableError` is kept for `listUnsupported`, which throws it.
   */
  translateInSteps?(): Steps<void>
  /**
   * Lists the fields that the link cannot honour, as the client's API names them. Throws
   * `UntranslatableError` when the link cannot express the request at all.
   */
  listUnsupported(): readonly string[]
  /** Estimates the output of the request. Throws `UntranslatableError` when `listUnsupported` does. */
  estimateOutput(): OutputEstimate
  buildRequest(): DialectRequest
  /** Parses a 2xx answer; `render` gives it in the client's API. */
  parseAnswer(body: AnswerBody, header: HeaderReader): AnswerResult<NativeAnswer>
  /** Does the same for a long answer; undefined where nothing is translated. */
  parseAnswerInSteps?(
    body: AnswerBody,
    header: HeaderReader,
  ): Steps<AnswerResult<NativeAnswer>> | undefined
  /** Creates the decoder of one 2xx event stream. */
  createDecoder(header: HeaderReader): FrameDecoder
  /** Writes a whole 2xx answer as the stream that was asked for; undefined where none is expected. */
  writeEvents(body: AnswerBody): Uint8Array | undefined
  /** Reads a JSON list that came in place of either; undefined where none is expected. */
  readList(body: AnswerBody): Steps<ListedAnswer | undefined> | undefined
  /** Creates the writer of the client's stream. It must not hold the bytes of the request. */
  createWriter(context: WriterContext): StreamWriter
  parseError(status: number, body: string, header: HeaderReader): UpstreamError
  /** The media type of the upstream's stream when it is not `text/event-stream`. */
  readonly streamType?: string | undefined
  /** A stream that ends after a finish reason is complete even without a terminator. */
  readonly streamEnd: StreamEnding
  /** The gateway writes the answer, which is then the same for the client as a stream and whole. */
  readonly writesAnswer: boolean
}

/** What a writer may say about the request besides its content. */
export interface WriterContext {
  readonly requestId: RequestId
  /** The client-facing id of the model that serves. */
  readonly model: string
  readonly clock: Clock
  /** What has written to the client before a link sent content; absent for most streams. */
  readonly early?: EarlyWriter | undefined
}

/** Writes to the client of a stream before a link has sent content. */
export interface EarlyWriter extends Pick<StreamWriter, 'cutsFailures' | 'ping' | 'fail'> {
  /** Writes the beginning of the stream, behind which the writer of the link goes on. Absent where that is a ping. */
  begin?(): Uint8Array
}
