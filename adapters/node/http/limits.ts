/** What a host grants its clients. Times in milliseconds, sizes in bytes. */
export interface HostLimits {
  /** From a connection's first byte of a request to the end of its headers. */
  readonly headersTimeout: number
  /** From the first byte of a request to the last one of its body. */
  readonly requestTimeout: number
  /** How often Node looks for those two; its default of 30 s makes both late. */
  readonly connectionsCheckingInterval: number
  /** How long a connection may idle between requests: longer than load balancers let it. */
  readonly keepAliveTimeout: number
  /** How long a client may take nothing of an answer that is complete. */
  readonly stallTimeout: number
  readonly maxHeaderSize: number
  readonly maxConnections: number
  /** Connections beyond those, for requests to `/health` only. */
  readonly healthConnections: number
  /** Requests of one connection that may wait for the one before them. */
  readonly maxWaiting: number
  /** What still comes of a request that has been answered already is dropped, within these bounds. */
  readonly discardTime: number
  readonly discardSize: number
}

export const hostLimits: HostLimits = Object.freeze({
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 70_000,
  stallTimeout: 60_000,
  maxHeaderSize: 65_536,
  maxConnections: 10_000,
  healthConnections: 16,
  maxWaiting: 32,
  discardTime: 2_000,
  discardSize: 64 * 1024 * 1024,
})
