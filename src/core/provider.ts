import type { Capability, Modality, NativeApi } from './capability.ts'
import type { ChatCall, OutputEstimate } from './chat.ts'
import type { EmbedCall, EmbedInput, VectorValue } from './embeddings.ts'
import type { UpstreamFailure } from './failure.ts'
import type { FrameDecoder, RawChoice } from './frame.ts'
import type { Millis, ModelId, NanoUsd, ProviderName, UnixSeconds } from './ids.ts'
import type { MemberLayout } from './layout.ts'
import type { BufferedBody, Clock, Egress, Environment, ReadFile, UpstreamPort } from './ports.ts'
import type { Ranking, RerankCall } from './rerank.ts'
import type { ReportedUsage, Usage } from './usage.ts'
import type { VendorError } from './vendor-error.ts'

/** The facts about a kind that the configuration needs to validate a provider of that kind. */
export interface KindFacts {
  /** The value of `kind` in the configuration file. */
  readonly name: string
  /** Other accepted spellings of `kind`. */
  readonly aliases?: readonly string[]
  readonly capabilities: readonly Capability[]
  /** The vendor's default address has no embeddings API: `embed` needs an explicit `base_url`. */
  readonly embedNeedsBaseUrl?: boolean
  /** The vendor's public address. Without one, `base_url` is required. */
  readonly defaultBaseUrl?: string
  /** The default address is a local server or the demo, which needs no key. */
  readonly keyless?: boolean
  /** `base_url` may also be a region name, such as `eu-west-1`. */
  readonly acceptsRegion?: boolean
  /** The optional provider settings that this kind accepts and most others reject. */
  readonly ownSettings?: readonly string[]
}

/** The vendors whose file references an `image_url` may hold. */
export type ReferenceOwner = 'anthropic' | 'google'

/**
 * A vendor's API, as one frozen value: facts are fields, translations are functions. The list of all
 * kinds is in `providers/index.ts`.
 */
export interface ProviderKind extends KindFacts {
  /** The vendor fetches http(s) addresses in `image_url`; otherwise only data URIs are accepted. */
  readonly canFetchImages: boolean
  /** The vendor whose file references this kind accepts in `image_url`. */
  readonly references?: ReferenceOwner
  /** Creates the function that adds the credential to requests. Called once per snapshot. */
  readonly createAuthorizer: (context: CredentialContext) => Authorizer
  /**
   * Returns why a secret cannot be used, without quoting it; undefined when it can. By default a
   * secret must be a valid header value.
   */
  readonly checkSecret?: (secret: string, env: Environment) => string | undefined
  /** Finds a secret in the vendor's usual environment variables. Called when none is configured. */
  readonly findAmbientSecret?: (env: Environment) => string | undefined
  /** Returns a warning for the operator about a model that is configured like this. */
  readonly findWarning?: (target: DialectTarget) => string | undefined
  /** Binds the chat dialect to one model. Called once per snapshot; never throws. */
  readonly chat?: (target: DialectTarget) => ChatEndpoint
  /**
   * Binds the vendor's own form of an API that the gateway also offers; undefined when this upstream does not
   * have it.
   */
  readonly native?: Partial<
    Record<NativeApi, (target: DialectTarget) => NativeEndpoint | undefined>
  >
  /** Binds the embeddings dialect in the same way. */
  readonly embed?: (target: DialectTarget) => EmbedEndpoint
  /** Binds the rerank dialect in the same way. */
  readonly rerank?: (target: DialectTarget) => RerankEndpoint
  /** The health probe for an address; by default any HTTP answer from its root counts as healthy. */
  readonly probe?: (baseUrl: string) => Probe
  /** Creates an upstream inside this process, in place of the network. */
  readonly createUpstream?: (settings: DemoSettings, clock: Clock) => UpstreamPort
}

/** A free request that shows whether an upstream is up. It carries no credential. */
export interface Probe {
  readonly url: string
  /** `success`: only a 2xx counts as up. `answer`: any HTTP answer counts. */
  readonly expects: 'success' | 'answer'
}

/** Settings of the built-in `demo` kind. */
export interface DemoSettings {
  /** The delay before the first byte, in milliseconds. */
  readonly latency: Millis
  readonly tokensPerSecond: number
  /** The share of requests that fail, from 0 to 1. */
  readonly failureRate: number
}

/** The model, address and settings that a dialect is bound to. */
export interface DialectTarget {
  /** The effective address: configured, or the vendor's public one. */
  readonly baseUrl: string
  /** The address comes from the configuration file; it is not the vendor's public one. */
  readonly hasCustomBaseUrl: boolean
  readonly apiVersion: string | undefined
  /** The vendor's name for the model. */
  readonly upstreamId: string
  /** The client-facing id, which answers of translated kinds carry as `model`. */
  readonly modelId: string
  /** The configured output limit of the model, in tokens; undefined when not configured. */
  readonly maxOutputTokens: number | undefined
  /** The model accepts `reasoning_effort`, by configuration; for kinds of the OpenAI format. */
  readonly takesEffort: boolean
  /** The full address of the upstream's Messages API, where the configuration names one. */
  readonly messagesUrl: string | undefined
  readonly streamUsage: StreamUsage
  /** The configuration says whether the upstream speaks the Responses API; undefined by default. */
  readonly speaksResponses: boolean | undefined
  /** The configuration lets the gateway ask for usage in streams of requests that it writes itself. */
  readonly mayAskUsage: boolean
  /** Forwards https addresses of media for the vendor to fetch. */
  readonly forwardsMediaUrls: boolean
  readonly clock: Clock
  readonly env: Environment
  /** The provider's first credential, for kinds whose address depends on it. */
  readonly secret: string | undefined
}

/**
 * What happens when a client streams without `stream_options.include_usage`. `not-asked`: the gateway
 * does not add it. `shown`: the gateway adds it and the client gets the usage chunk. `hidden`: the
 * gateway adds it and removes the usage chunk. Only some kinds can be asked.
 */
export type StreamUsage = 'not-asked' | 'shown' | 'hidden'

/** Request headers by lower-case name. */
export type RequestHeaders = Readonly<Record<string, string>>

/** The secret and the ports that an authorizer may use. */
export interface CredentialContext {
  readonly secret: string
  readonly baseUrl: string
  readonly clock: Clock
  readonly env: Environment
  /** For kinds that exchange the secret for a token. */
  readonly send: UpstreamPort
  /** For kinds whose secret may name a file; absent when the host has no files. */
  readonly readFile?: ReadFile | undefined
}

/**
 * Returns the headers that carry the credential of one request. A signature covers exactly the
 * request that is passed in. Rejects with an `UpstreamFault` when the credential cannot be used.
 */
export interface Authorizer {
  (request: DialectRequest): RequestHeaders | Promise<RequestHeaders>
  /**
   * Drops the cached token in these headers after the upstream answered them with 401. Returns true
   * when the next headers will carry a new token, so that one more call may succeed.
   */
  readonly renew?: (refused: RequestHeaders) => boolean
  /**
   * Completes the URL of a request with a part that only the credential knows, such as a project.
   * Rejects with an `UpstreamFault` when the credential cannot be used or lacks that part.
   */
  readonly complete?: (request: DialectRequest) => Promise<DialectRequest>
}

/** The credential of a provider, as it was when the snapshot was built. */
export type Credential =
  | {
      readonly kind: 'secret'
      readonly value: string
      readonly origin: 'environment' | 'store'
      /** Where it comes from: the variable that holds it, or `the stored key`. */
      readonly name: string
    }
  | { readonly kind: 'none' }
  | {
      readonly kind: 'missing'
      readonly message: string
      /** A short form of the message: `OPENAI_API_KEY is unset`. */
      readonly state: string
    }

/** A credential that requests can carry. Every snapshot has its own, so that nothing parked outlives a reload. */
export interface UsableCredential {
  /** The secret itself; undefined where requests carry none. */
  readonly secret: string | undefined
  /** The variable that holds it, for the log. */
  readonly name: string
  readonly authorize: Authorizer
}

/** A configured provider with its credentials, its timeouts and its way to the network. */
export interface Provider {
  readonly name: ProviderName
  readonly kind: ProviderKind
  /** The effective address: configured, or the vendor's public one. */
  readonly baseUrl: string
  /** The address comes from the configuration file, so the provider is health-probed. */
  readonly hasCustomBaseUrl: boolean
  /** The path to probe at the origin of the address, in place of the kind's own probe. */
  readonly healthPath: string | undefined
  /** In the order of the configuration, those that are missing too; at least one. */
  readonly credentials: readonly Credential[]
  /** The credentials that requests carry in turn. Empty when all are missing. */
  readonly usable: readonly UsableCredential[]
  /** Refuses requests with fields that the kind cannot carry, instead of dropping the fields. */
  readonly strict: boolean
  /** Forwards https addresses of media, although the kind does not by default. */
  readonly forwardsMediaUrls: boolean
  readonly connectTimeout: Millis
  /** The provider overrides the connect timeout, so it gets its own connection pool. */
  readonly dedicatedPool: boolean
  readonly firstTokenTimeout: Millis
  readonly totalTimeout: Millis
  /** The proxy settings of this provider; undefined to use those of the host. */
  readonly egress: Egress | undefined
  /** Sends requests with those proxy settings. */
  readonly send: UpstreamPort
}

/** Prices of a model in nano-dollars per million tokens, and per thousand searches. */
export interface Prices {
  readonly input: NanoUsd
  readonly output: NanoUsd
  readonly cachedInput: NanoUsd
  readonly cacheWrite: NanoUsd
  /** For tokens that are written to a cache for one hour. */
  readonly cacheWrite1h: NanoUsd
  readonly searches: NanoUsd
}

/** A configured model bound to its provider: a link of the chains that contain it. */
export interface Model {
  readonly id: ModelId
  /** The vendor's name for the model. */
  readonly upstreamId: string
  readonly provider: Provider
  readonly capabilities: readonly Capability[]
  readonly modalities: readonly Modality[]
  /** The configured output limit in tokens; undefined when not configured. */
  readonly maxOutputTokens: number | undefined
  readonly prices: Prices
  /** When the gateway first saw this configuration of the model (start or reload), in Unix seconds. */
  readonly created: UnixSeconds
  readonly chat: ChatEndpoint | undefined
  /** The APIs of the gateway that the upstream speaks itself, besides chat completions. */
  readonly native: NativeEndpoints
  readonly embed: EmbedEndpoint | undefined
  readonly rerank: RerankEndpoint | undefined
}

/** A request in the vendor's dialect, before the credential is added. */
export interface DialectRequest {
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
  /** Renders the body for the client with the resolved usage. */
  render(usage: Usage): BufferedBody
}

/** The outcome of parsing a vendor's chat answer. */
export type ChatResult = AnswerResult<ChatAnswer>

export type AnswerResult<Answer> =
  | { readonly ok: true; readonly answer: Answer }
  | { readonly ok: false; readonly failure: UpstreamFailure }

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
  /** Builds the request in this dialect. Called only after `listUnsupported` did not throw. */
  buildRequest(call: ChatCall): DialectRequest
  /** Estimates the output of the request. Throws `UntranslatableError` when `listUnsupported` does. */
  estimateOutput(call: ChatCall): OutputEstimate
  /** Parses a 2xx answer to a request without `stream`. */
  parseAnswer(body: Uint8Array, call: ChatCall, header: HeaderReader): ChatResult
  /** Creates the decoder of one 2xx event stream. */
  createDecoder(call: ChatCall, header: HeaderReader): FrameDecoder
  /** The media type of that stream when it is not `text/event-stream`. */
  readonly streamType?: string
  /** Reads the meaning and message of a status outside 2xx from its body. */
  parseError(status: number, body: string, header: HeaderReader): UpstreamError
  /** A stream that ends after a finish reason is complete even without `[DONE]`. */
  readonly isDoneOptional: boolean
  /** How to write a chat request for this endpoint that came through another API. */
  readonly form: RequestForm
}

/** What the upstream of a chat endpoint accepts in a request that the gateway itself has written. */
export interface RequestForm {
  /** The field for the bound on the output. */
  readonly boundField: 'max_tokens' | 'max_completion_tokens'
  /** `stream_options.include_usage` is accepted, and needed for usage in streams. */
  readonly asksStreamUsage: boolean
  /** `reasoning_effort` is accepted. */
  readonly takesEffort: boolean
  /** `cache_control` is accepted on parts and tools. */
  readonly takesCacheControl: boolean
  /** Members of messages that the vendor does not know are left out by the translation. */
  readonly ignoresUnknown: boolean
  /** Claude's field `thinking` is accepted. */
  readonly takesThinking: boolean
  /** `thinking_blocks` of earlier answers are accepted. */
  readonly takesThinkingBlocks: boolean
  /** `top_k` is accepted, or left out by the translation. */
  readonly takesTopK: boolean
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
  parseAnswer(body: Uint8Array): AnswerResult<NativeAnswer>
  /** Creates the decoder of one 2xx event stream. */
  createDecoder(call: NativeCall): FrameDecoder
  /** Reads the meaning and message of a status outside 2xx from its body. */
  parseError(status: number, body: string, header: HeaderReader): UpstreamError
  /** A stream that ends after a finish reason is complete even without a terminator. */
  readonly isDoneOptional: boolean
  /** Counts the tokens of a prompt; absent where the upstream does not. */
  readonly counting?: NativeCounting
}

/** The counting of tokens at an upstream, which answers it without charge. */
export interface NativeCounting {
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
