import type { PlatformRequest, PlatformResponse } from './platform.ts'
import type { CancelSignal } from './ports.ts'

/** What a host knows about a request that the `Request` does not contain. */
export interface FetchOptions {
  /** Aborts when the client disconnects; `request.signal` by default. */
  readonly signal?: CancelSignal | undefined
  /** The IP address of the client, for the log. It is never sent to a provider. */
  readonly client?: string | undefined
  /**
   * The path under which the host has mounted the gateway, `/llm`. It is removed from the path of the
   * request; a path that does not begin with it stays as it is.
   */
  readonly base?: string | undefined
}

/** Serves a request. Never rejects, and the body of the response never errors. */
export type Fetch = (request: PlatformRequest, context?: FetchOptions) => Promise<PlatformResponse>
