import type { Bytes, Millis } from './ids.ts'
import type { PlatformResponse, PlatformUrl } from './platform.ts'
import type { Readable } from './streams.ts'

/** The clock and timers of the host. */
export interface Clock {
  /** The wall clock, in milliseconds since the epoch. */
  now(): Millis
  /** A monotonic clock, for durations. */
  elapsed(): Millis
  /** Calls `fire` once after `delay`. The timer does not keep the process alive. */
  schedule(delay: Millis, fire: () => void): Timer
}

export interface Timer {
  cancel(): void
}

/** Runs a task when the work at hand, such as sending a response, is done. */
export type AfterTurn = (run: () => void) => void

/** The format of log lines: for people, or for programs. */
export type LogFormat = 'pretty' | 'json'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** A structured log. Fields are ids, counts and codes, never content, keys or headers. */
export interface Log {
  enabled(level: LogLevel): boolean
  write(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** A body that arrives in chunks. It has one reader. */
export interface ByteSource {
  /**
   * Resolves to the next bytes in order, or to undefined at a clean end. Rejects with an
   * `UpstreamFault` when the sender fails or the reader falls too far behind.
   */
  read(): Promise<Uint8Array | undefined>
  /** Cancels the body and frees the connection. A pending read resolves to undefined. */
  cancel(): void
  /**
   * Discards the rest of the body. The connection is reused when the body ends within a moment, and
   * closed otherwise.
   */
  drain(): void
}

/** Counts the unread bytes of one queue toward the memory limit of the process. */
export interface UnreadBytes {
  /** Adds to the unread bytes; a negative number subtracts. */
  add(bytes: Bytes): void
  /** Subtracts all unread bytes of the queue. */
  release(): void
}

/** The part of `AbortSignal` that a single listener needs; every `AbortSignal` is one. */
export interface CancelSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** The proxy and the certificate authorities of one provider. */
export interface Egress {
  /** The URL of a proxy, with its credential. Empty: no proxy. Undefined: the proxy of the host. */
  readonly proxy?: string | undefined
  /** Certificate authorities to trust in addition to those of the host, in PEM. */
  readonly ca?: string | undefined
}

export interface UpstreamRequest {
  readonly method: 'GET' | 'HEAD' | 'POST'
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | undefined
  readonly connectTimeout: Millis
  /** Use a connection pool of its own, because the connect timeout differs from the global one. */
  readonly dedicatedPool?: boolean | undefined
  /** The same object for every call of a provider: it identifies the connection pool. */
  readonly egress?: Egress | undefined
  /** Maximum unread bytes; beyond it the body fails as `slow-client`. */
  readonly queueLimit: Bytes
  readonly unread?: UnreadBytes | undefined
  /**
   * Called before the request is sent again after a reused connection was lost; false prevents it.
   * When absent, a request is sent again at most once.
   */
  readonly mayResend?: (() => boolean) | undefined
  /** Aborts the call at any point and frees its connection at once. */
  readonly signal: CancelSignal
}

export interface UpstreamResponse {
  readonly status: number
  /**
   * Returns a header by its lower-case name, or undefined. The headers that describe the coding of a
   * decoded body are absent; those of a coding that the host cannot decode are not.
   */
  header(name: string): string | undefined
  /** The decoded body. A body in an unknown coding fails as `malformed`. */
  readonly body: ByteSource
}

/**
 * Sends one request without following redirects, and resolves at the headers of the response.
 * Rejects with an `UpstreamFault` (`network`, or `timeout` of `connect`). The body is then read
 * eagerly into a queue of at most `queueLimit` bytes.
 */
export type UpstreamPort = (request: UpstreamRequest) => Promise<UpstreamResponse>

/** Fetches remote images. The data plane decides which addresses are allowed. */
export interface ImageFetchPort {
  /**
   * Resolves a host name to all its addresses, or to `at-proxy` when a proxy will resolve it. Rejects
   * with an `UpstreamFault` when the name has no address.
   */
  resolve(host: string, lookup: Lookup): Promise<readonly string[] | 'at-proxy'>
  /** Like an `UpstreamPort`, but connects only to `address`. */
  fetch(request: PinnedRequest): Promise<UpstreamResponse>
}

export interface Lookup {
  /** The URL to fetch from the host. */
  readonly url: PlatformUrl
  /** Cancels the lookup. */
  readonly signal: CancelSignal
}

export interface PinnedRequest {
  readonly url: string
  /** An IP address that the policy allows; undefined when a proxy resolves the name. */
  readonly address: string | undefined
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Maximum unread bytes; beyond it the body fails as `slow-client`. */
  readonly queueLimit: Bytes
  readonly unread?: UnreadBytes | undefined
  /** Aborts the call at any point and frees its connection at once. */
  readonly signal: CancelSignal
}

/** Returns true if the bytes are valid UTF-8. */
export type IsUtf8 = (bytes: Uint8Array) => boolean

declare const alternating: unique symbol

/**
 * Alternating lower-case names and values, the flat form that `ServerResponse.writeHead` accepts. Made
 * by `headerList`, and on the hot path by `asHeaderList`.
 */
export type HeaderList = readonly string[] & { readonly [alternating]: true }

/** Builds a header list from names and values. */
export function headerList(headers: Readonly<Record<string, string>>): HeaderList {
  return asHeaderList(Object.entries(headers).flat())
}

/** Marks alternating names and values as a header list, without a copy. */
export function asHeaderList(namesAndValues: readonly string[]): HeaderList {
  // The caller vouches for the order, which the type of an array cannot express.
  return namesAndValues as HeaderList
}

/** The parts of a response. */
export interface ResponseParts {
  readonly status: number
  readonly headers: HeaderList
  readonly body: Body | null
}

declare const ascii: unique symbol

/** A text of ASCII characters only, which hosts send in one piece with the headers. */
export type AsciiText = string & { readonly [ascii]: true }

/** The body of a response: complete in memory, or a stream. */
export type Body = BufferedBody | Readable<Uint8Array>
export type BufferedBody = Uint8Array | AsciiText

/** True for a body that is complete in memory. */
export function isBuffered(body: string | object): body is BufferedBody {
  return typeof body === 'string' || body instanceof Uint8Array
}

/** Creates a response of the class that the host expects. */
export type MakeResponse = (parts: ResponseParts) => PlatformResponse

/** Returns the headers as pairs of name and value. */
export function headerEntries({ headers }: Pick<ResponseParts, 'headers'>): [string, string][] {
  return Array.from({ length: headers.length / 2 }, (_, at) => [
    headers[2 * at] ?? '',
    headers[2 * at + 1] ?? '',
  ])
}

/** A vocabulary of OpenAI's tokenizers. */
export type TokenEncoding = 'o200k_base' | 'cl100k_base'

/** Counts tokens exactly, outside of the event loop. */
export interface Tokenizer {
  /**
   * Resolves to the number of tokens of each text, or to undefined when counting would take too long,
   * too many counts are queued, or the tokenizer has failed.
   */
  count(encoding: TokenEncoding, texts: readonly string[]): Promise<readonly number[] | undefined>
}

/**
 * A short text in place of a longer one: no two texts have the same fingerprint, and outside of this
 * process it reveals nothing and cannot be computed. It is computed per request, so it must be fast.
 */
export type Fingerprint = (text: string) => string

/**
 * Returns the SHA-256 hash of a text as UTF-8, in hex. It is computed for each request that may be answered
 * from the cache, so it should be synchronous where the host can do that.
 */
export type Digest = (text: string) => string | Promise<string>

/** Reads a text file by its path. Rejects when it cannot be read. */
export type ReadFile = (path: string) => Promise<string>

/** Environment variables: overrides of settings, credentials and the master key. */
export type Environment = Readonly<Record<string, string | undefined>>
