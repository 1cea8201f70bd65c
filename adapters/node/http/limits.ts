/** Limits of a host. Times are in milliseconds, sizes in bytes. */
export interface HostLimits {
  /** Time from the first byte of a request to the end of its headers. */
  readonly headersTimeout: number
  /** Time from the first byte of a request to the last byte of its body. */
  readonly requestTimeout: number
  /** How often Node checks the two timeouts above. Its default of 30 s makes both late. */
  readonly connectionsCheckingInterval: number
  /** How long a connection may idle between requests. Longer than the limit of usual load balancers. */
  readonly keepAliveTimeout: number
  /**
   * The same after a request with an `Upgrade` header. Node drops the bytes that arrive together with it, so a
   * client that pipelines may wait for a response to a request that was never seen.
   */
  readonly upgradeKeepAliveTimeout: number
  /** How long a client may read nothing while bytes of a response wait for it. */
  readonly stallTimeout: number
  /** Maximum size of the request line and headers. */
  readonly maxHeaderSize: number
  /** Maximum number of open connections. */
  readonly maxConnections: number
  /** Number of connections beyond `maxConnections`, for requests to `/health` only. */
  readonly healthConnections: number
  /** Maximum number of pipelined requests that wait on one connection. */
  readonly maxWaiting: number
  /** How long the host discards the rest of a body after the response, to keep the connection. */
  readonly discardTime: number
  /** How many bytes of such a body the host discards. */
  readonly discardSize: number
}

/** The defaults of a host. */
export const hostLimits: HostLimits = Object.freeze({
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 70_000,
  upgradeKeepAliveTimeout: 5_000,
  stallTimeout: 60_000,
  maxHeaderSize: 65_536,
  maxConnections: 10_000,
  healthConnections: 16,
  maxWaiting: 32,
  discardTime: 2_000,
  discardSize: 64 * 1024 * 1024,
})
