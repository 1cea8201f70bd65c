import type { CloudCredentialPort } from './core/cloud-credential.ts'
import type { ConfigFile } from './core/config-file.ts'
import type { Fetch } from './core/fetch.ts'
import type { Bytes, Millis } from './core/ids.ts'
import type { MetricsPort } from './core/metrics.ts'
import type { Overview } from './core/overview.ts'
import type {
  AfterTurn,
  Clock,
  Digest,
  Environment,
  Fingerprint,
  ImageFetchPort,
  IsUtf8,
  Log,
  LogFormat,
  MakeResponse,
  ReadFile,
  Tokenizer,
  UpstreamPort,
} from './core/ports.ts'
import type { OpenPrices } from './core/price-catalogue.ts'
import type { OpenSharedState } from './core/shared-state.ts'
import type { StreamClasses } from './core/streams.ts'
import type { OpenTraces } from './core/traces.ts'
import type { Workers } from './core/workers.ts'
import type { OpenStore } from './store/index.ts'

/** The configuration of a gateway, and the ports through which it uses its host. */
export interface GatewayOptions {
  /** The text of the configuration file, TOML. */
  readonly config: string
  /** The file that `config` was read from. Without it the gateway can neither reload nor replace it. */
  readonly configFile?: ConfigFile | undefined
  /** Variables for overrides and credentials; empty by default. The gateway never reads `process.env`. */
  readonly env?: Environment | undefined
  readonly clock?: Clock | undefined
  /** Lets a response be sent before its request is logged and counted; by default that comes first. */
  readonly afterTurn?: AfterTurn | undefined
  /** Creates the log in the configured format; nothing is logged by default. */
  readonly log?: ((format: LogFormat) => Log) | undefined
  /** Sends requests to providers; with the global `fetch` by default. */
  readonly upstream?: UpstreamPort | undefined
  /** Creates the responses; `webResponse` by default. */
  readonly response?: MakeResponse | undefined
  /** The classes that streamed responses are built from; `webStreams` by default. */
  readonly streams?: StreamClasses | undefined
  /** Fetches remote images for embeddings, where the configuration allows it. */
  readonly imageFetch?: ImageFetchPort | undefined
  /** Maximum memory for bodies and queues of this process, unless the configuration sets it; 512 MiB by default. */
  readonly bufferLimit?: Bytes | undefined
  /** Counts tokens exactly when `tokenizer.mode` is `accurate`; without it they are estimated. */
  readonly tokenizer?: Tokenizer | undefined
  /** Reads credential files and `ca_file`; without it credentials must be given as their content. */
  readonly readFile?: ReadFile | undefined
  /** Opens a table of prices; without it no model may have `prices = "table"`. */
  readonly openPrices?: OpenPrices | undefined
  /** Finds the credentials of clouds; without it `credentials` of a provider has no effect. */
  readonly cloudCredentials?: CloudCredentialPort | undefined
  /** Recognizes API keys that were shown before; without it each request costs a BLAKE3 hash. */
  readonly fingerprint?: Fingerprint | undefined
  /** Computes the keys of the cache; with Web Crypto by default. */
  readonly digest?: Digest | undefined
  /** Checks whether bytes are UTF-8; a slower loop does by default. */
  readonly isUtf8?: IsUtf8 | undefined
  /** Opens the database of keys, budgets and usage; without it `auth.enabled` must be false. */
  readonly openStore?: OpenStore | undefined
  /** Connects to the server of `[shared]`; without it that table must be absent. */
  readonly openShared?: OpenSharedState | undefined
  /** Creates the metrics, called once; without it there is no `/metrics`. */
  readonly metrics?: (() => MetricsPort) | undefined
  /** Opens the destination of spans, called once; without it no request is traced. */
  readonly traces?: OpenTraces | undefined
  /**
   * With auth on, starts even when another gateway uses the same database and does not share its state.
   * Each enforces budgets and rate limits by itself, so two gateways together grant them twice.
   */
  readonly allowSecond?: boolean | undefined
  /** The processes that serve together as this gateway; by default this is the only one. */
  readonly workers?: Workers | undefined
  /** Returns a number from 0 up to 1, for the jitter of retries; `Math.random` by default. */
  readonly random?: (() => number) | undefined
}

/** The settings that a host needs to serve a gateway. A reload may change all but the address. */
export interface HostSettings {
  readonly host: string
  readonly port: number
  /** Maximum size of a request body. */
  readonly bodyLimit: Bytes
  /** Origins whose pages may read responses; `*` for any. */
  readonly corsOrigins: readonly string[]
  /** Maximum number of connections from one address; 0 for no limit. */
  readonly maxConnectionsPerAddress: number
  /** How long a host that stops keeps accepting connections while the gateway is not ready. */
  readonly drainDelay: Millis
}

export interface Gateway {
  readonly fetch: Fetch
  readonly settings: HostSettings
  /** A summary of the configuration at the start. */
  readonly overview: Overview
  readonly log: Log
  readonly buffers: HostBuffers
  /** The number of data-plane requests that have not ended, streams included. */
  readonly inFlight: number
  /**
   * Explains how a data-plane request would be handled for a sender without limits. Resolves to the
   * JSON text that `POST /admin/explain` answers; rejects when no service has the path. Sends nothing.
   */
  explain(request: ExplainedText): Promise<string>
  /**
   * Sends the smallest request to a model of a provider, by default its first, once with each credential. Resolves to
   * the JSON text that `POST /admin/providers/{name}/check` answers; undefined for an unknown provider. Rejects
   * when the provider has no such model. The requests cost what the vendor charges, and count nowhere.
   */
  check(question: {
    readonly provider: string
    readonly model?: string
  }): Promise<string | undefined>
  /** Serves the current content of the configuration file. Never rejects: failures are logged. */
  reload(): Promise<void>
  /** Like `reload`, but only when the file has changed. */
  refresh(): Promise<void>
  /**
   * Makes `GET /health/ready` respond with 503, so that load balancers send no new requests. All
   * requests are served as before.
   */
  startDraining(): void
  /**
   * Ends every request in flight: streams with their terminal frame, all others with an error. Starts
   * draining if `startDraining` has not been called.
   */
  drain(): void
  /**
   * Ends every request in flight, saves pending usage for at most `within` (4,000 ms), and frees
   * everything. Resolves to what could not be saved. The gateway cannot be used afterwards.
   */
  close(within?: Millis): Promise<Unsaved>
}

/** The memory held for clients and upstreams. A host adds the bytes that it holds itself. */
export interface HostBuffers {
  readonly bytes: Bytes
  /** Opens an account for one request. `end` is called at most once, when the account is evicted. */
  openAccount(end: () => void): HostBufferAccount
}

/** The buffered bytes of one request. A closed account counts nothing that is added later. */
export interface HostBufferAccount {
  /** How many bytes wait to be read by the client. */
  readonly unread: Bytes
  /** Changes the number of unread bytes by `bytes`, which may be negative. */
  addUnread(bytes: number): void
  close(): void
}

/** A request that is explained. */
export interface ExplainedText {
  /** Such as `/v1/chat/completions`, with its query if it has one. */
  readonly path: string
  /** The JSON text of its body. */
  readonly body: string
  /** The JSON text of its metadata header; absent without one. */
  readonly metadata?: string | undefined
}

/** The usage that a gateway could not save before it closed; usually none. */
export interface Unsaved {
  /** Rows of the usage log. */
  readonly rows: number
  /** The spend of keys, in US dollars. */
  readonly spend: number
}
