import type { NativeApi } from './capability.ts'
import type { ChatCall, OutputEstimate } from './chat.ts'
import type { DecisionForm } from './decisions.ts'
import type { EmbedCall, EmbedInput, VectorValue } from './embeddings.ts'
import type { UpstreamFailure } from './failure.ts'
import type { FrameDecoder, RawChoice } from './frame.ts'
import type { Millis } from './ids.ts'
import type { MemberLayout } from './layout.ts'
import type { BufferedBody } from './ports.ts'
import type { ProfileOrigin } from './profile.ts'
import type { Ranking, RerankCall } from './rerank.ts'
import type { Steps } from './steps.ts'
import type { ReportedUsage, Usage } from './usage.ts'
import type { VendorError } from './vendor-error.ts'

/** Request headers by lower-case name. */
export type RequestHeaders = Readonly<Record<string, string>>

/** A request in the vendor's dialect, before the credential is added. */
export interface DialectRequest {
  /** `POST` when absent. */
  readonly method?: 'GET' | undefined
  readonly url: string
  readonly headers: RequestHeaders
  readonly body: Uint8Array
  /** The header for the secret, where the endpoint does not take it in the way of its kind. */
  readonly keyHeader?: string | undefined
}

/** A parsed answer to a request without `stream`. */
export interface ChatAnswer {
  /** The choices in the form of chat completions, for writers of other APIs. */
  readonly choices: readonly RawChoice[]
  readonly usage: ReportedUsage | undefined
  /** The generated text of all choices. */
  readonly output: string
  /** The length of `output` in UTF-8 bytes, for the token estimate. */
  readonly outputBytes: number
  /** True when the vendor's content filter has ended the answer, and nothing is in it. */
  readonly isFiltered?: boolean
  /** Renders the body for the client with the resolved usage. */
  render(usage: Usage): BufferedBody
  /** Does the same for a long answer. Absent where rendering copies bytes at most. */
  renderInSteps?(usage: Usage): Steps<BufferedBody>
}

/** The body of a whole answer. A long one is decoded and parsed in steps before an endpoint reads it. */
export interface AnswerBody {
  readonly bytes: Uint8Array
  readonly text: string
  /** The value of its JSON; undefined when it is not JSON. Read it once: it may be parsed each time. */
  readonly value: unknown
}

/** A JSON list of the events of a stream, which came in place of the stream or of a whole answer. */
export interface ListedAnswer {
  /** The body of the whole answer that they make. */
  readonly whole: Uint8Array
  /** The event stream, in pieces between which the gateway may yield. */
  readonly events: readonly Uint8Array[]
}

/** The outcome of parsing a vendor's chat answer. */
export type ChatResult = AnswerResult<ChatAnswer>

export type AnswerResult<Answer> = { readonly ok: true; readonly answer: Answer } | FailedAnswer

/** An answer with status 2xx that is a failure. */
export interface FailedAnswer {
  readonly ok: false
  readonly failure: UpstreamFailure
  /** The counts that the answer reports all the same: the model has run, and the vendor bills it. */
  readonly usage?: ReportedUsage | undefined
}

/** Reads one response header of the upstream by its lower-case name. */
export type HeaderReader = (name: string) => string | undefined

/** The meaning of an upstream response with a status outside 2xx. */
export interface UpstreamError {
  /** The status to act on, which may differ from the one on the wire. */
  readonly status: number
  readonly message: string
  readonly vendor?: VendorError | undefined
  /** The delay that the body asks for, for vendors that do not send `Retry-After`. */
  readonly retryAfter?: Millis | undefined
}

/** A chat dialect bound to one model. Its functions are pure and may run once per attempt. */
export interface ChatEndpoint {
  /**
   * Lists the fields of a request that this dialect cannot carry, as dotted paths. The gateway drops
   * them, or refuses the request when the provider is `strict`. Verbatim kinds return an empty list.
   * Throws `UntranslatableError` when the request cannot be expressed in this dialect at all.
   */
  listUnsupported(call: ChatCall): readonly string[]
  /**
   * Translates a long request in steps. The functions of the endpoint then use what it has made, as long as the
   * parsed request is kept. Throws what `listUnsupported` throws. Absent where the client's bytes are sent.
   */
  translateInSteps?(call: ChatCall): Steps<unknown>
  /** Builds the request in this dialect. Called only after `listUnsupported` did not throw. */
  buildRequest(call: ChatCall): DialectRequest
  /** Estimates the output of the request. Throws `UntranslatableError` when `listUnsupported` does. */
  estimateOutput(call: ChatCall): OutputEstimate
  /** Parses a 2xx answer to a request without `stream`. */
  parseAnswer(body: AnswerBody, call: ChatCall, header: HeaderReader): ChatResult
  /** Does the same for a long answer. Absent where nothing is translated. */
  parseAnswerInSteps?(body: AnswerBody, call: ChatCall, header: HeaderReader): Steps<ChatResult>
  /** Creates the decoder of one 2xx event stream. */
  createDecoder(call: ChatCall, header: HeaderReader): FrameDecoder
  /**
   * Writes a whole 2xx answer, which `parseAnswer` has accepted, as the event stream that the upstream
   * should have sent. Absent where no upstream answers a streamed request so.
   */
  writeEvents?(body: AnswerBody): Uint8Array
  /** Reads a JSON list of events; undefined for any other body. Absent where no upstream sends one. */
  readList?(body: AnswerBody): Steps<ListedAnswer | undefined>
  /** The media type of that stream when it is not `text/event-stream`. */
  readonly streamType?: string
  /** Reads the meaning and message of a status outside 2xx from its body. */
  parseError(status: number, body: string, header: HeaderReader): UpstreamError
  readonly streamEnd: StreamEnding
  /** What its upstream demands of such a request; absent for dialects of other vendors. */
  readonly profile?: ProfileOrigin
  /** How to write a chat request for this endpoint that came through another API. */
  readonly form: RequestForm
  /** The gateway writes the answers. Those of verbatim kinds are the bytes of the vendor. */
  readonly writesAnswers: boolean
}

/**
 * How a complete stream ends. `terminator`: with the end that its API defines. `done`: with `[DONE]`, as the profile
 * of the upstream says. `finish`: a clean end after all finish reasons is complete too, and `[DONE]` is added.
 */
export type StreamEnding = 'terminator' | 'done' | 'finish'

/** What the upstream of a chat endpoint accepts in a request that the gateway itself has written. */
export interface RequestForm {
  /** The field for the bound on the output. */
  readonly boundField: 'max_tokens' | 'max_completion_tokens'
  /** `stream_options.include_usage` is accepted, and needed for usage in streams. */
  readonly asksStreamUsage: boolean
  /** `cache_control` is accepted on parts and tools. */
  readonly takesCacheControl: boolean
  /** Members of messages that the vendor does not know are left out by the translation. */
  readonly ignoresUnknown: boolean
  /** `thinking_blocks` of earlier answers are accepted. */
  readonly takesThinkingBlocks: boolean
  /** Tools that Anthropic defines and the client runs are accepted, in Anthropic's own form. */
  readonly takesClientTools: boolean
  /** `top_k` is accepted, or left out by the translation. */
  readonly takesTopK: boolean
  /** Images and files are accepted in tool messages. */
  readonly takesResultMedia: boolean
  /** `is_error` is accepted on tool messages. */
  readonly takesResultErrors: boolean
  /** A file may have its address as `file_data`, or the translation refuses it by name. */
  readonly takesFileAddresses: boolean
}

/** A request in an API that the upstream speaks too, as the client sent it. */
export interface NativeCall {
  readonly bytes: Uint8Array
  readonly layout: MemberLayout<'model' | 'stream_options'>
  readonly stream: boolean
  /** The client's headers that belong to the API, such as `anthropic-beta`. */
  readonly headers: RequestHeaders
  /** The query of the request with its `?`, or an empty string. */
  readonly query: string
  /** The members of the body that only some services of the API know, as the client spells them. */
  readonly foreign?: readonly string[]
}

/** A parsed answer in the API of the client. */
export type NativeAnswer = Omit<ChatAnswer, 'choices'>

/**
 * An API that the gateway and an upstream both speak, bound to one model: the client's bytes are sent with
 * `model` replaced, and the answer's bytes come back. Its functions are pure.
 */
export interface NativeEndpoint {
  buildRequest(call: NativeCall): DialectRequest
  /** Parses a 2xx answer to a request without `stream`. */
  parseAnswer(body: AnswerBody, header: HeaderReader): AnswerResult<NativeAnswer>
  /** Creates the decoder of one 2xx event stream. */
  createDecoder(call: NativeCall, header: HeaderReader): FrameDecoder
  /**
   * Writes a whole 2xx answer, which `parseAnswer` has accepted, as the event stream that the upstream
   * should have sent. Absent where no upstream answers a streamed request so.
   */
  writeEvents?(body: AnswerBody): Uint8Array
  /** Reads a JSON list of events; undefined for any other body. Absent where no upstream sends one. */
  readList?(body: AnswerBody): Steps<ListedAnswer | undefined>
  /** Reads the meaning and message of a status outside 2xx from its body. */
  parseError(status: number, body: string, header: HeaderReader): UpstreamError
  readonly streamEnd: StreamEnding
  /** Counts the tokens of a prompt; absent where the upstream does not. */
  readonly counting?: NativeCounting
  /** Reasoning that is plain text is refused: the vendor signs or encrypts its own. */
  readonly refusesUnsigned?: boolean
}

/** The counting of tokens at an upstream, which answers it without charge. */
export interface NativeCounting {
  /** The members, besides the prompt, that the upstream takes; absent where settings cannot add any. */
  readonly members?: ReadonlySet<string>
  buildRequest(call: NativeCall): DialectRequest
  /** Whether a 2xx answer holds a count. */
  isCount(body: Uint8Array): boolean
}

export type NativeEndpoints = Readonly<Partial<Record<NativeApi, NativeEndpoint>>>

/** The limits of one upstream call. */
export interface BatchLimits {
  /** The maximum number of items. */
  readonly items: number
  /** The maximum tokens, by the gateway's estimate. An item above it gets a call of its own. */
  readonly tokens?: number
}

/** The outcome of parsing a vendor's answer. Vectors are in the order of the items. */
export type EmbedResult =
  | {
      readonly ok: true
      readonly vectors: readonly VectorValue[]
      /** The vendor's token count; undefined when it is missing or not credible. */
      readonly tokens: number | undefined
    }
  | { readonly ok: false; readonly failure: UpstreamFailure }

/** A request for embeddings in an API that the upstream speaks too, as the client sent it. */
export interface NativeEmbedCall {
  readonly bytes: Uint8Array
  /** The method of the API, such as `batchEmbedContents`. */
  readonly method: string
}

/** An API for embeddings that the gateway and an upstream both speak, bound to one model. */
export interface NativeEmbedEndpoint {
  /** Writes the request with the upstream's own name of the model, in the client's bytes otherwise. */
  buildRequest(call: NativeEmbedCall): DialectRequest
  /** Parses a 2xx answer, of which the client gets the bytes. Its number arrays are already replaced. */
  parseAnswer(body: unknown): EmbedResult
}

/** An embeddings dialect bound to one model. Its functions are pure and may run once per attempt. */
export interface EmbedEndpoint {
  /** Returns how much of this input goes into one call. */
  getLimits(input: EmbedInput): BatchLimits
  /** The vendor accepts arrays of token ids as input. */
  readonly supportsTokenIds: boolean
  readonly supportsImages: boolean
  /** True for an image reference that this vendor resolves. When absent, no reference is supported. */
  supportsReference?(url: string): boolean
  /** The vendor accepts `dimensions`; otherwise the field is dropped, or refused when `strict`. */
  readonly supportsDimensions: boolean
  /**
   * When the client's `input_type` reaches the vendor: in every request, or where the provider maps it.
   * Absent for a vendor without such a field.
   */
  readonly takesInputType?: 'always' | 'when-mapped'
  /** Builds requests from the JSON of `WrittenTexts`, without decoding it. */
  readonly takesWrittenTexts?: boolean
  /** The APIs of clients that the upstream speaks itself, besides that of OpenAI. */
  readonly native?: Readonly<Partial<Record<NativeApi, NativeEmbedEndpoint>>>
  /** Throws LM-1001, before any call, for input that this dialect cannot express. */
  check?(call: EmbedCall): void
  /** Builds the request for one batch. */
  buildRequest(batch: EmbedCall): DialectRequest
  /** Parses a 2xx answer. Its number arrays are already replaced, see `vectorValue`. */
  parseAnswer(body: unknown, header: HeaderReader): EmbedResult
  /** Reads the meaning and message of a status outside 2xx from its body. */
  parseError(status: number, body: string, header: HeaderReader): UpstreamError
}

/** The outcome of parsing a vendor's answer. Results may be in any order. */
export type RerankResult =
  | {
      readonly ok: true
      readonly results: readonly Ranking[]
      /** The billed search units; undefined when the vendor reports none or bills in another unit. */
      readonly searchUnits: number | undefined
      /** The vendor's token count; undefined when it is missing or not used for billing. */
      readonly tokens: number | undefined
    }
  | { readonly ok: false; readonly failure: UpstreamFailure }

/** A rerank dialect bound to one model. Its functions are pure and may run once per attempt. */
export interface RerankEndpoint {
  /**
   * The maximum number of documents in one call, for a vendor that has a limit and scores documents
   * independently, so that a request may be split. Undefined: all documents go into one call.
   */
  readonly maxDocuments?: number
  /** Builds the request for one call. */
  buildRequest(call: RerankCall): DialectRequest
  /** Parses a 2xx answer. `body` is undefined when the answer is not JSON. */
  parseAnswer(body: unknown): RerankResult
  /** Reads the meaning and message of a status outside 2xx from its body. */
  parseError(status: number, body: string, header: HeaderReader): UpstreamError
}

/** A request for decisions, as the client sent it. */
export interface DecisionCall {
  readonly form: DecisionForm
  readonly bytes: Uint8Array
  readonly layout: MemberLayout<'model'>
  /** The client's headers that belong to the form. */
  readonly headers: RequestHeaders
}

/** A parsed answer to a request for decisions. */
export interface DecisionAnswer {
  /** What the client gets: the bytes of the vendor. */
  readonly body: Uint8Array
  readonly usage: ReportedUsage | undefined
  /** The number of questions that the model refused to answer. */
  readonly refusals: number
}

/**
 * Decisions in the form of one vendor, bound to one model: the client's bytes are sent with `model` replaced, and
 * the answer's bytes come back. Its functions are pure and may run once per attempt.
 */
export interface DecisionEndpoint {
  /** A request in another form cannot be sent. */
  readonly form: DecisionForm
  buildRequest(call: DecisionCall): DialectRequest
  /** Parses a 2xx answer. */
  parseAnswer(body: AnswerBody): AnswerResult<DecisionAnswer>
  /** Reads the meaning and message of a status outside 2xx from its body. */
  parseError(status: number, body: string, header: HeaderReader): UpstreamError
}
