import type { PlatformRequest, PlatformResponse } from './platform.ts'
import type { CancelSignal } from './ports.ts'

/** What a host knows of one request beyond the request itself. */
export interface FetchOptions {
  /** Aborts when the client has left. Without it, the request's own signal counts. */
  readonly signal?: CancelSignal | undefined
  /** The address of the client. It goes to the log, never to a provider. */
  readonly client?: string | undefined
  /**
   * The leading part of the path on which the host has mounted the gateway: `/llm`. The gateway
   * cuts it off, and takes a path that does not begin with it as it is.
   */
  readonly base?: string | undefined
}

/** Answers a request. Never rejects, and the body of its answer never errors. */
export type Fetch = (request: PlatformRequest, context?: FetchOptions) => Promise<PlatformResponse>
