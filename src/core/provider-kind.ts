import type { StatedCostReader } from './billing.ts'
import type { Capability, NativeApi } from './capability.ts'
import type { Cloud, CloudSource } from './cloud-credential.ts'
import type { DecisionForm } from './decisions.ts'
import type {
  ChatEndpoint,
  DecisionEndpoint,
  DialectRequest,
  EmbedEndpoint,
  NativeEndpoint,
  RequestHeaders,
  RerankEndpoint,
} from './endpoints.ts'
import type { Millis } from './ids.ts'
import type { ModelLister } from './model-list.ts'
import type { Clock, Environment, ReadFile, UpstreamPort } from './ports.ts'
import type { ProfileSetting } from './profile.ts'

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
  /** The cloud whose own credentials requests may carry. */
  readonly cloud?: Cloud
  /** The optional provider settings that this kind accepts and most others reject. */
  readonly ownSettings?: readonly string[]
  /** Answers state what the vendor charges, in a form that the gateway knows. */
  readonly statesCost?: boolean
  /** The names that the setting `profile` may have; absent for kinds that do not have the setting. */
  readonly profileNames?: readonly string[]
  /** Reads the vendor's list of models; absent where it has none that its credential can read. */
  readonly models?: ModelLister
  /** Lists the values of `input_type` that a model accepts, by its upstream id; absent where it may be any. */
  readonly listInputTypes?: (upstreamId: string) => readonly string[] | undefined
  /**
   * Returns what marks the prompt of a request for the cache of the vendor, where it has no mark; undefined for a model
   * that takes none. Absent for kinds without models of Claude.
   */
  readonly findMarker?: (model: ModelNames) => CacheMarker | undefined
}

/** Marks the prompts of an API for the cache of the vendor. */
export interface CacheMarker {
  /** Marks a body that has no mark. */
  readonly mark: ChangeBody
  /** Lists the marks of a body, each as the dotted path of what it stands in. */
  readonly list: (body: Readonly<Record<string, unknown>>) => readonly string[]
}

/** A model as the configuration names it. */
export interface ModelNames {
  readonly upstreamId: string
  /** The client-facing id. */
  readonly modelId: string
}

/** Changes the body of a request, and keeps all other bytes of it. */
export type ChangeBody = (body: Uint8Array) => Uint8Array

/** The vendors whose file references an `image_url` may hold. */
export type ReferenceOwner = 'anthropic' | 'google'

/**
 * A vendor's API, as one frozen value: facts are fields, translations are functions. The list of all
 * kinds is in `providers/index.ts`.
 */
export interface ProviderKind extends KindFacts {
  /** The vendor in the conventions of OpenTelemetry, where that is not the name of the kind. */
  readonly vendorName?: string
  /** The vendor fetches http(s) addresses in `image_url`; otherwise only data URIs are accepted. */
  readonly canFetchImages: boolean
  /** The vendor whose file references this kind accepts in `image_url`. */
  readonly references?: ReferenceOwner
  /**
   * When the vendor writes prompts to a cache and counts what it wrote: only for requests with a mark, or never.
   * Absent: it may write any prompt by itself.
   */
  readonly writesCache?: 'when-marked' | 'never'
  /** Creates the function that adds the credential to requests. Called once per snapshot. */
  readonly createAuthorizer: (context: CredentialContext) => Authorizer
  /** Does the same for a credential that the kind's cloud provides. */
  readonly createCloudAuthorizer?: (source: CloudSource, context: CloudContext) => Authorizer
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
  /** Binds decisions in the same way: in the configured form, or in that of the kind. */
  readonly decisions?: (target: DialectTarget) => DecisionEndpoint
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
  /** What the configuration says of the profile: for the provider, then for the model. */
  readonly profileSettings: readonly ProfileSetting[]
  /** The full address of the upstream's Messages API, where the configuration names one. */
  readonly messagesUrl: string | undefined
  readonly streamUsage: StreamUsage
  /** The configuration says whether the upstream speaks the Responses API; undefined by default. */
  readonly speaksResponses: boolean | undefined
  /** The configured form of decisions; undefined for that of the kind. */
  readonly decisionForm?: DecisionForm | undefined
  /** The configured path of decisions, at the origin of the address. */
  readonly decisionsPath?: string | undefined
  /** Reads what the vendor charges, where the configuration says how. */
  readonly readCost?: StatedCostReader | undefined
  /** The configuration lets the gateway ask for usage in streams of requests that it writes itself. */
  readonly mayAskUsage: boolean
  /** Forwards https addresses of media for the vendor to fetch. */
  readonly forwardsMediaUrls: boolean
  readonly clock: Clock
  readonly env: Environment
  /** The provider's first credential, for kinds whose address depends on it. */
  readonly secret: string | undefined
  /** The credential that a cloud provides, in place of a secret. */
  readonly cloud?: CloudSource | undefined
}

/**
 * What happens when a client streams without `stream_options.include_usage`. `not-asked`: the gateway
 * does not add it. `shown`: the gateway adds it and the client gets the usage chunk. `hidden`: the
 * gateway adds it and removes the usage chunk. Only some kinds can be asked.
 */
export type StreamUsage = 'not-asked' | 'shown' | 'hidden'

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

/** What an authorizer for the credential of a cloud may use. */
export type CloudContext = Pick<CredentialContext, 'baseUrl' | 'clock' | 'env'>

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
