import type { Millis } from './ids.ts'
import type { PlatformResponse, PlatformUrl } from './platform.ts'
import type { Readable } from './streams.ts'

/** Time, so that tests can hold it. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch. */
  now(): Millis
  /** A clock that never jumps, for durations. */
  elapsed(): Millis
  /** Calls `fire` once after `delay`; the timer does not keep the process alive. */
  schedule(delay: Millis, fire: () => void): Timer
}

export interface Timer {
  cancel(): void
}

/** How the host writes lines of the log: for a person, or for a program. */
export type LogFormat = 'pretty' | 'json'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Structured log. Fields are ids, counts and codes: never content, keys or headers. */
export interface Log {
  enabled(level: LogLevel): boolean
  write(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** A body that arrives piece by piece. One reader. */
export interface ByteSource {
  /**
   * The next bytes that have arrived, in order, or undefined at a clean end.
   * Rejects with an `UpstreamFault` when the sender fails or the reader fell too far behind.
   */
  read(): Promise<Uint8Array | undefined>
  /** The reader wants no more: frees the connection; a read that waits resolves to undefined. */
  cancel(): void
  /**
   * The reader has all it needs: what still comes is dropped. The connection is freed for the next
   * request when the body ends within a moment, else closed.
   */
  drain(): void
}

/** Counts the unread bytes of one queue among all that the process holds. */
export interface UnreadBytes {
  /** So many more wait to be read, or so many less. */
  add(bytes: number): void
  /** None waits any more. */
  release(): void
}

/** What an `AbortSignal` is to those who listen once; every `AbortSignal` is one. */
export interface CancelSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** How the calls of one provider leave the host, where it has settings of its own for that. */
export interface Egress {
  /** The address of a proxy, with its credential; empty is none. Absent: as the host does it. */
  readonly proxy?: string | undefined
  /** Certificate authorities to trust beside those of the host, in PEM. */
  readonly ca?: string | undefined
}

export interface UpstreamRequest {
  readonly method: 'GET' | 'HEAD' | 'POST'
  readonly url: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | undefined
  readonly connectTimeout: Millis
  /** A provider with its own connect timeout asks for a client of its own. */
  readonly dedicatedPool?: boolean | undefined
  /** The same object for all calls of a provider: connections are shared by it. */
  readonly egress?: Egress | undefined
  /** Bytes that may wait unread before the exchange is ended as `slow-client`. */
  readonly queueLimit: number
  readonly unread?: UnreadBytes | undefined
  /**
   * Called before the request is sent again because a reused connection was lost at once; false
   * keeps it from that. Absent, a request may be sent again once.
   */
  readonly mayResend?: (() => boolean) | undefined
  /** Aborts the exchange at any point; the connection is freed at once. */
  readonly signal: CancelSignal
}

export interface UpstreamResponse {
  readonly status: number
  /**
   * One header by its lower-case name; undefined when absent. The headers of a body that has been
   * decoded do not tell of its coding.
   */
  header(name: string): string | undefined
  /** The body, decoded. One in a coding that the host does not know fails as `malformed`. */
  readonly body: ByteSource
}

/**
 * Sends one request, follows no redirect, and resolves at the response's headers.
 * Rejects with an `UpstreamFault` (`network`, or `timeout` of `connect`).
 * From the headers on the body is read eagerly into a queue of at most `queueLimit` bytes.
 */
export type UpstreamPort = (request: UpstreamRequest) => Promise<UpstreamResponse>

/** Fetches remote images, as the policy of the data plane says: it decides, the port obeys. */
export interface ImageFetchPort {
  /**
   * Every address that a host name has; `at-proxy` when the image would come through a proxy, which
   * resolves the name itself. Rejects with an `UpstreamFault` when it has none.
   */
  resolve(host: string, lookup: Lookup): Promise<readonly string[] | 'at-proxy'>
  /** Like an `UpstreamPort`, but it connects to `address` and to no other. */
  fetch(request: PinnedRequest): Promise<UpstreamResponse>
}

export interface Lookup {
  /** What is to be fetched from the host. */
  readonly url: PlatformUrl
  /** Ends the look-up. */
  readonly signal: CancelSignal
}

export interface PinnedRequest {
  readonly url: string
  /** An IP address, which has been found to be harmless; undefined where a proxy resolves the name. */
  readonly address: string | undefined
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** Bytes that may wait unread before the exchange is ended as `slow-client`. */
  readonly queueLimit: number
  readonly unread?: UnreadBytes | undefined
  /** Aborts the exchange at any point; the connection is freed at once. */
  readonly signal: CancelSignal
}

/** Names in lower case, each followed by its value: a host writes such a list out as it stands. */
export type HeaderList = readonly string[]

/** What an answer is made of. */
export interface ResponseParts {
  readonly status: number
  readonly headers: HeaderList
  readonly body: Body | null
}

/** Bytes, text that is ASCII only (hosts send that in one piece with the headers), or a stream. */
export type Body = BufferedBody | Readable<Uint8Array>
export type BufferedBody = Uint8Array | string

/** True for a body that is all there. */
export function isBuffered(body: string | object): body is BufferedBody {
  return typeof body === 'string' || body instanceof Uint8Array
}

/** Makes an answer of the host's own class. */
export type MakeResponse = (parts: ResponseParts) => PlatformResponse

/** The headers of an answer by their names. */
export function headerEntries({ headers }: Pick<ResponseParts, 'headers'>): [string, string][] {
  return Array.from({ length: headers.length / 2 }, (_, at) => [
    headers[2 * at] ?? '',
    headers[2 * at + 1] ?? '',
  ])
}

/** An encoding of OpenAI's models. */
export type TokenEncoding = 'o200k_base' | 'cl100k_base'

/** Counts tokens exactly, and not on the event loop. */
export interface Tokenizer {
  /**
   * The tokens of each text. Undefined when they are not counted: it would take too long, too many
   * counts wait, or the counter is broken.
   */
  count(encoding: TokenEncoding, texts: readonly string[]): Promise<readonly number[] | undefined>
}

/**
 * A short text that stands for a longer one within this process: no two have the same, and outside
 * of the process nobody can make it or learn anything from it. Quick, since it is made per request.
 */
export type Fingerprint = (text: string) => string

/** The text of a file that a credential names. Rejects when it cannot be read. */
export type ReadFile = (path: string) => Promise<string>

/** The variables that overrides, credentials and the master key come from. */
export type Environment = Readonly<Record<string, string | undefined>>
