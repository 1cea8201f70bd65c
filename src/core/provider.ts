import type { AffinityPolicy } from './affinity.ts'
import type { BilledTool } from './billing.ts'
import type { Capability, Modality } from './capability.ts'
import type { Cloud, CloudSource } from './cloud-credential.ts'
import type {
  ChatEndpoint,
  DecisionEndpoint,
  EmbedEndpoint,
  NativeEndpoints,
  RerankEndpoint,
} from './endpoints.ts'
import type { FallbackCause } from './fallback.ts'
import type { Millis, ModelId, ProviderName, UnixSeconds } from './ids.ts'
import type { ModelList } from './model-list.ts'
import type { ModelMatch } from './model-pattern.ts'
import type { Egress, UpstreamPort } from './ports.ts'
import type { PriceTable } from './price-table.ts'
import type { MissingPrices, Prices, ToolReserve } from './prices.ts'
import type { Authorizer, CacheMarker, ProviderKind } from './provider-kind.ts'
import type { LinkRoom } from './room.ts'

/** The credential of a provider, as it was when the snapshot was built. */
export type Credential =
  | {
      readonly kind: 'secret'
      readonly value: string
      readonly origin: 'environment' | 'store'
      /** Where it comes from: the variable that holds it, or `the stored key`. */
      readonly name: string
    }
  /** A cloud provides the credential, which is fetched and renewed while the snapshot is in force. */
  | { readonly kind: 'cloud'; readonly cloud: Cloud; readonly profile: string | undefined }
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
  /** The variable that holds it, or the cloud that provides it, for the log. */
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
  /** Of its credentials, when it has several. */
  readonly affinity: AffinityPolicy
  /** The credential that a cloud provides, when the provider is configured with one. */
  readonly cloud: CloudSource | undefined
  /** The models that the vendor lists; absent where it is not asked for them. */
  readonly list?: ModelList | undefined
  /** The time between two readings of that list. */
  readonly listInterval?: Millis | undefined
  /** Refuses requests with fields that the kind cannot carry, instead of dropping the fields. */
  readonly strict: boolean
  /** Forwards https addresses of media, although the kind does not by default. */
  readonly forwardsMediaUrls: boolean
  /** Passes the client's `input_type` on in embeddings, although the kind does not by default. */
  readonly mapsInputType: boolean
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

/** A model bound to its provider: a link of the chains that contain it. */
export interface Model {
  readonly id: ModelId
  /** How a pattern came to serve the id; absent for an id of the configuration. */
  readonly match?: ModelMatch | undefined
  /** The vendor's name for the model. */
  readonly upstreamId: string
  readonly provider: Provider
  readonly capabilities: readonly Capability[]
  readonly modalities: readonly Modality[]
  /** The configured output limit in tokens; undefined when not configured. */
  readonly maxOutputTokens: number | undefined
  /** The `input_type` of embeddings whose request has none. */
  readonly inputType: string | undefined
  /** The configured maximum number of items of one call for embeddings. */
  readonly maxBatchSize: number | undefined
  /** The prices of a model without a table; else those of its standard tier for short prompts. */
  readonly prices: Prices
  /** Absent where prices depend on nothing but the kind of token. */
  readonly priceTable?: PriceTable | undefined
  /** Tokens of a prompt and its output together; absent when not configured. */
  readonly contextWindow?: number | undefined
  /** The refusals after which a chain goes on to the next link; absent for none. */
  readonly fallbackOn?: readonly FallbackCause[] | undefined
  /** The limits of calls at once, of its provider and its own; absent without one. */
  readonly room?: LinkRoom | undefined
  /** The longest prompt that the model takes, in tokens; absent when not configured. */
  readonly maxInputTokens?: number | undefined
  /** Absent where no tool of the vendor has a price or adds tokens: then the tools of a request are not read. */
  readonly toolReserve?: ToolReserve | undefined
  /** Marks prompts without a mark for the cache of the vendor; absent where the gateway does not. */
  readonly cacheMarker?: CacheMarker | undefined
  /** How long a client waits for the headers of its stream; absent where it waits for content. */
  readonly earlyHeartbeat?: Millis | undefined
  /** Finds the model of the same provider with this name of the vendor. */
  readonly findSibling?: ((upstreamId: string) => Model | undefined) | undefined
  /** Something that the model does costs more than 0. */
  readonly isPriced: boolean
  /** A price is configured, which may be 0. Without one its answers cost nothing. */
  readonly hasPrice: boolean
  /** Its answers cost what the vendor says in them that it charges. */
  readonly isCostReported: boolean
  /** All prices that it needs are configured as 0. */
  readonly isFree: boolean
  /** By capability: the setting of a price without which the cost of an answer is not known. */
  readonly missingPrices: MissingPrices
  /** The tools of the vendor that have a price, which may be 0. */
  readonly pricedTools: ReadonlySet<BilledTool>
  /** When the gateway first saw this configuration of the model (start or reload), in Unix seconds. */
  readonly created: UnixSeconds
  readonly chat: ChatEndpoint | undefined
  /** The APIs of the gateway that the upstream speaks itself, besides chat completions. */
  readonly native: NativeEndpoints
  readonly embed: EmbedEndpoint | undefined
  readonly rerank: RerankEndpoint | undefined
  readonly decisions: DecisionEndpoint | undefined
}
