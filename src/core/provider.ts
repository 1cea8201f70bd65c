import type { Capability, Modality } from './capability.ts'
import type { ChatCall, OutputEstimate } from './chat.ts'
import type { EmbedCall, EmbedInput, VectorValue } from './embeddings.ts'
import type { UpstreamFailure } from './failure.ts'
import type { FrameDecoder } from './frame.ts'
import type { Millis, ModelId, NanoUsd, ProviderName } from './ids.ts'
import type { BufferedBody, Clock, Egress, Environment, ReadFile, UpstreamPort } from './ports.ts'
import type { Ranking, RerankCall } from './rerank.ts'
import type { ReportedUsage, Usage } from './usage.ts'
import type { VendorError } from './vendor-error.ts'

/** What configuration must know of a kind to judge a provider of it. */
export interface KindFacts {
  readonly name: string
  /** Other spellings of `kind` in the file. */
  readonly aliases?: readonly string[]
  readonly capabilities: readonly Capability[]
  /** The vendor has no embeddings API of its own: `embed` needs an explicit `base_url`. */
  readonly embedNeedsBaseUrl?: boolean
  /** The vendor's own address. Without one, `base_url` is required. */
  readonly defaultBaseUrl?: string
  /** The default address is no vendor's and takes no key: a local server, or the demo. */
  readonly keyless?: boolean
  /** `base_url` may also be a bare region, such as `eu-west-1`. */
  readonly acceptsRegion?: boolean
  /** Optional provider settings that only this kind takes. */
  readonly ownSettings?: readonly string[]
}

/** Whose file references an `image_url` may hold. */
export type ReferenceOwner = 'anthropic' | 'google'

/** A vendor's API: facts as fields, shapes as functions. One frozen value a kind. */
export interface ProviderKind extends KindFacts {
  /** What an `image_url` may be: any address, or data URIs only. */
  readonly canFetchImages: boolean
  /** The family whose native image references this kind understands. */
  readonly references?: ReferenceOwner
  /** Makes the function that puts the credential on requests, once, when a snapshot is built. */
  readonly createAuthorizer: (context: CredentialContext) => Authorizer
  /** Why a secret cannot be used, without quoting it. By default it must fit into a header. */
  readonly checkSecret?: (secret: string, env: Environment) => string | undefined
  /** A secret found in the vendor's own environment variables, where no variable is configured. */
  readonly findAmbientSecret?: (env: Environment) => string | undefined
  /** What an operator should know of a model that was configured like this; undefined for nothing. */
  readonly findWarning?: (target: DialectTarget) => string | undefined
  /** Binds the chat dialect to one model, once, when a snapshot is built. Never throws. */
  readonly chat?: (target: DialectTarget) => ChatEndpoint
  /** Binds the embeddings dialect in the same way. */
  readonly embed?: (target: DialectTarget) => EmbedEndpoint
  /** Binds the rerank dialect in the same way. */
  readonly rerank?: (target: DialectTarget) => RerankEndpoint
  /** How to see that an upstream at this address is alive; by default any answer of its root is. */
  readonly probe?: (baseUrl: string) => Probe
  /** An upstream inside this process, instead of the network. */
  readonly createUpstream?: (settings: DemoSettings, clock: Clock) => UpstreamPort
}

/** A request that costs nothing and tells whether an upstream is up. It carries no credential. */
export interface Probe {
  readonly url: string
  /** `success`: only a 2xx counts as up. `answer`: any HTTP answer does. */
  readonly expects: 'success' | 'answer'
}

/** Settings of the built-in `demo` kind. */
export interface DemoSettings {
  readonly latency: Millis
  readonly tokensPerSecond: number
  readonly failureRate: number
}

/** What a dialect is bound to. */
export interface DialectTarget {
  /** The address in force: configured, or the vendor's own. */
  readonly baseUrl: string
  /** The address stands in the file; it is not the vendor's own. */
  readonly hasCustomBaseUrl: boolean
  readonly apiVersion: string | undefined
  /** The vendor's name of the model. */
  readonly upstreamId: string
  /** The client-facing id, which answers of translated kinds carry. */
  readonly modelId: string
  /** The most that the model may write; undefined: not configured. */
  readonly maxOutputTokens: number | undefined
  readonly streamUsage: StreamUsage
  /** Passes media at https addresses on, for the vendor to fetch. */
  readonly forwardsMediaUrls: boolean
  readonly clock: Clock
  readonly env: Environment
  /** The provider's credential, for kinds whose addresses depend on it. */
  readonly secret: string | undefined
}

/**
 * Whether streams for whose usage the client did not ask are asked for it, where the kind's upstream
 * knows how: then the chunk that this adds is `shown` to the client or `hidden` from it.
 */
export type StreamUsage = 'not-asked' | 'shown' | 'hidden'

export type RequestHeaders = Readonly<Record<string, string>>

/** What an authorizer may use. */
export interface CredentialContext {
  readonly secret: string
  readonly baseUrl: string
  readonly clock: Clock
  readonly env: Environment
  /** For kinds that exchange their credential for a token. */
  readonly send: UpstreamPort
  /** For kinds whose credential may stand in a file; absent where the host has no files. */
  readonly readFile?: ReadFile | undefined
}

/**
 * The headers that carry the credential of one request. A signature covers the request as it is
 * given. Rejects with an `UpstreamFault` when the credential is of no use.
 */
export interface Authorizer {
  (request: DialectRequest): RequestHeaders | Promise<RequestHeaders>
  /**
   * Told that the upstream answered these headers with 401: forgets the token in them. True when
   * the next headers will hold another one, so that repeating the call once is worth it.
   */
  readonly renew?: (refused: RequestHeaders) => boolean
  /**
   * The same request at its full address, for a credential that is read late and knows a part of it.
   * Rejects with an `UpstreamFault` when the credential is of no use, or does not know it either.
   */
  readonly complete?: (request: DialectRequest) => Promise<DialectRequest>
}

/** The credential of a provider, as found when its snapshot was built. */
export type Credential =
  | {
      readonly kind: 'secret'
      readonly value: string
      readonly origin: 'environment' | 'store'
    }
  | { readonly kind: 'none' }
  | {
      readonly kind: 'missing'
      readonly message: string
      /** The same in a few words: `OPENAI_API_KEY is unset`. */
      readonly state: string
    }

export interface Provider {
  readonly name: ProviderName
  readonly kind: ProviderKind
  /** The address in force: configured, or the vendor's own. */
  readonly baseUrl: string
  /** The address stands in the file, so the provider is health-probed. */
  readonly hasCustomBaseUrl: boolean
  /** What to probe at the origin of the address, in place of the kind's own probe. */
  readonly healthPath: string | undefined
  readonly credential: Credential
  readonly authorize: Authorizer
  readonly strict: boolean
  /** Passes media at https addresses on, although the kind does not by default. */
  readonly forwardsMediaUrls: boolean
  readonly connectTimeout: Millis
  /** True when the provider overrides the connect timeout, and so has a client of its own. */
  readonly dedicatedPool: boolean
  readonly firstTokenTimeout: Millis
  readonly totalTimeout: Millis
  /** Its own way out; undefined for that of the host. */
  readonly egress: Egress | undefined
  /** Sends on that way. */
  readonly send: UpstreamPort
}

/** Prices of a model in nano-dollars per million tokens, and per thousand searches. */
export interface Prices {
  readonly input: NanoUsd
  readonly output: NanoUsd
  readonly cachedInput: NanoUsd
  readonly cacheWrite: NanoUsd
  /** For what is written to a cache for an hour. */
  readonly cacheWrite1h: NanoUsd
  readonly searches: NanoUsd
}

/** A configured model, bound to its provider: a link of the chains it stands in. */
export interface Model {
  readonly id: ModelId
  readonly upstreamId: string
  readonly provider: Provider
  readonly capabilities: readonly Capability[]
  readonly modalities: readonly Modality[]
  readonly maxOutputTokens: number | undefined
  readonly prices: Prices
  /** Since when it is configured as it is: the boot or a reload, unix seconds. */
  readonly created: number
  readonly chat: ChatEndpoint | undefined
  readonly embed: EmbedEndpoint | undefined
  readonly rerank: RerankEndpoint | undefined
}

/** A model as asked for, with everything that may serve it: itself, then its fallbacks in order. */
export interface ModelRoute {
  readonly model: Model
  readonly chain: readonly [Model, ...Model[]]
}

/** One request of a dialect, before the credential is added. */
export interface DialectRequest {
  readonly url: string
  readonly headers: RequestHeaders
  readonly body: Uint8Array
}

/** A non-streamed answer that a dialect has understood. */
export interface ChatAnswer {
  readonly usage: ReportedUsage | undefined
  /** The generated text, of all choices. */
  readonly output: string
  /** UTF-8 bytes of that text, for the estimate. */
  readonly outputBytes: number
  /** The client's body, with the usage as it was judged. */
  render(usage: Usage): BufferedBody
}

export type ChatResult =
  | { readonly ok: true; readonly answer: ChatAnswer }
  | { readonly ok: false; readonly failure: UpstreamFailure }

/** Reads one header of an upstream's answer by its lower-case name. */
export type HeaderReader = (name: string) => string | undefined

/** What a status outside 2xx means once its body has been read. */
export interface UpstreamError {
  readonly status: number
  readonly message: string
  readonly vendor?: VendorError | undefined
  /** The wait that the body asks for, for vendors who do not use the header. */
  readonly retryAfter?: Millis | undefined
}

/** A chat dialect bound to one model. Functions are pure and may run once per attempt. */
export interface ChatEndpoint {
  /**
   * The fields of a request that this kind cannot honour, as dotted paths. They are dropped, or
   * refused where the provider is `strict`. Verbatim kinds forward everything and name none.
   * Throws `UntranslatableError` when the request has no form in this dialect at all.
   */
  listUnsupported(call: ChatCall): readonly string[]
  /** The request in this dialect. It has one, since `listUnsupported` did not throw. */
  buildRequest(call: ChatCall): DialectRequest
  /** What such a request may make the model write. Throws `UntranslatableError` as `listUnsupported` does. */
  estimateOutput(call: ChatCall): OutputEstimate
  /** Reads a 2xx answer to a request without `stream`. */
  parseAnswer(body: Uint8Array, call: ChatCall, header: HeaderReader): ChatResult
  /** Reads a 2xx event stream. */
  createDecoder(call: ChatCall, header: HeaderReader): FrameDecoder
  /** The media type of that stream, where it is not `text/event-stream`. */
  readonly streamType?: string
  /** Judges a status outside 2xx by its body: the vendor's own meaning and message. */
  parseError(status: number, body: string, header: HeaderReader): UpstreamError
  /** A clean end after a finish reason counts as complete although `[DONE]` never came. */
  readonly isDoneOptional: boolean
}

/** What one upstream call may hold. */
export interface BatchLimits {
  readonly items: number
  /** By the gateway's own estimate; an item that is over it alone goes alone. */
  readonly tokens?: number
}

/** A vendor's answer, its vectors in the order of the items. */
export type EmbedResult =
  | {
      readonly ok: true
      readonly vectors: readonly VectorValue[]
      /** What the vendor counted; undefined when it did not, or not credibly. */
      readonly tokens: number | undefined
    }
  | { readonly ok: false; readonly failure: UpstreamFailure }

/** An embeddings dialect bound to one model. Functions are pure and may run once per attempt. */
export interface EmbedEndpoint {
  /** What of this input goes into one call. */
  getLimits(input: EmbedInput): BatchLimits
  readonly supportsTokenIds: boolean
  readonly supportsImages: boolean
  /** The vendor finds an image by this reference of its own; none does where absent. */
  supportsReference?(url: string): boolean
  /** The request's `dimensions` reach the vendor; else they are dropped, or refused where `strict`. */
  readonly supportsDimensions: boolean
  /** Throws LM-1001, before any call, for what cannot be said in this dialect. */
  check?(call: EmbedCall): void
  /** Says one batch. */
  buildRequest(batch: EmbedCall): DialectRequest
  /** Reads a 2xx answer whose arrays of numbers have been taken out. */
  parseAnswer(body: unknown, header: HeaderReader): EmbedResult
  /** Judges a status outside 2xx by its body: the vendor's own meaning and message. */
  parseError(status: number, body: string, header: HeaderReader): UpstreamError
}

/** A vendor's answer, its results in any order. */
export type RerankResult =
  | {
      readonly ok: true
      readonly results: readonly Ranking[]
      /** What the vendor bills; undefined when it does not say, or bills in another unit. */
      readonly searchUnits: number | undefined
      /** What the vendor counted; undefined when it did not, or when its count is not to be used. */
      readonly tokens: number | undefined
    }
  | { readonly ok: false; readonly failure: UpstreamFailure }

/** A rerank dialect bound to one model. Functions are pure and may run once per attempt. */
export interface RerankEndpoint {
  /**
   * How many documents go into one call, where the vendor has a limit and scores each document by
   * itself, so that a request may be split. Undefined: all go at once.
   */
  readonly maxDocuments?: number
  /** Says one call. */
  buildRequest(call: RerankCall): DialectRequest
  /** Reads a 2xx answer; undefined where it is no JSON. */
  parseAnswer(body: unknown): RerankResult
  /** Judges a status outside 2xx by its body: the vendor's own meaning and message. */
  parseError(status: number, body: string, header: HeaderReader): UpstreamError
}
