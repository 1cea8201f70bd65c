import { isUtf8 } from 'node:buffer'
import { getHeapStatistics } from 'node:v8'
import type {
  AfterTurn,
  Bytes,
  Clock,
  CloudCredentialPort,
  Digest,
  Environment,
  Fingerprint,
  ImageFetchPort,
  IsUtf8,
  Log,
  LogFormat,
  MakeResponse,
  MetricsPort,
  OpenPrices,
  OpenSharedState,
  OpenStore,
  OpenTraces,
  ReadFile,
  StreamClasses,
  Tokenizer,
  UpstreamPort,
} from '../../../src/index.ts'
import { logLevel, type NodeLog, nodeLog } from '../log/log.ts'
import { wantsColors } from '../output/style.ts'
import { nodeCloudCredentials } from '../ports/cloud-credentials.ts'
import { nodeImageFetch } from '../ports/image-fetch.ts'
import { nodeMetrics } from '../ports/metrics.ts'
import { nodeResponse } from '../ports/plain-response.ts'
import { openNodeSharedState } from '../ports/shared-state.ts'
import { openNodeStore } from '../ports/store.ts'
import { nodeTokenizer } from '../ports/tokenizer.ts'
import { nodeTraces } from '../ports/traces.ts'
import { nodeUpstream } from '../ports/upstream.ts'
import { nodeDigest, nodeFingerprint, readText, systemClock } from '../process/system.ts'
import { nodeStreams } from '../streams/index.ts'
import { readProxyRules } from '../upstream/proxy-rules.ts'

/** The ports of Node.js: everything that `createGateway` needs from its platform. */
export interface NodePorts {
  readonly clock: Clock
  readonly afterTurn: AfterTurn
  readonly upstream: UpstreamPort
  readonly log: (format: LogFormat) => Log
  readonly response: MakeResponse
  readonly streams: StreamClasses
  readonly imageFetch: ImageFetchPort
  readonly cloudCredentials: CloudCredentialPort
  readonly openPrices: OpenPrices
  readonly tokenizer: Tokenizer
  readonly readFile: ReadFile
  readonly openStore: OpenStore
  readonly openShared: OpenSharedState
  readonly fingerprint: Fingerprint
  readonly digest: Digest
  readonly isUtf8: IsUtf8
  readonly metrics: () => MetricsPort
  readonly traces: OpenTraces
  /** Maximum memory for bodies and queues: a quarter of the heap limit. */
  readonly bufferLimit: Bytes
  readonly env: Environment
  /** The proxy variables in force for outgoing calls, without credentials. */
  readonly proxies: Readonly<Record<string, string>> | undefined
  /** Resolves when the waiting log lines are written, or after 250 ms. */
  flush(): Promise<void>
  /**
   * Closes the connections to upstreams, ends the thread that counts tokens, and flushes the log. Call
   * it at the end of the process.
   */
  close(): Promise<void>
}

/**
 * Returns the ports of Node.js for `createGateway`: the system clock, upstream calls over pooled
 * connections, a log on standard output, and the environment of the process. Throws when a proxy
 * variable is not a URL.
 *
 * @example
 * import { createGateway } from 'model-gateway'
 * import { nodePorts } from 'model-gateway/node'
 *
 * const ports = nodePorts()
 * const config = '[[providers]]\nname = "demo"\nkind = "demo"\nmodels = [{ id = "demo" }]'
 * const gateway = await createGateway({ ...ports, config })
 * const response = await gateway.fetch(new Request('http://gateway/v1/models'))
 * console.log(response.status) // 200
 * await gateway.close()
 * await ports.close()
 */
export function nodePorts(env: Environment = process.env): NodePorts {
  const level = logLevel(env) ?? 'info'
  return openNodePorts(env, (format) => nodeLog({ format, level, colors: wantsColors(env) }))
}

/** Opens the ports of Node.js with a log of the caller's. */
export function openNodePorts(
  env: Environment,
  openLog: (format: LogFormat) => NodeLog,
): NodePorts {
  const rules = readProxyRules(env)
  const upstream = nodeUpstream(rules)
  const tokenizer = nodeTokenizer()
  const logs: NodeLog[] = []
  const flush = async () => {
    await Promise.all(logs.map((log) => log.flush()))
  }
  return {
    clock: systemClock,
    afterTurn: process.nextTick,
    upstream: upstream.send,
    log(format) {
      const log = openLog(format)
      logs.push(log)
      return log
    },
    response: nodeResponse,
    streams: nodeStreams,
    imageFetch: nodeImageFetch({ rules }),
    cloudCredentials: nodeCloudCredentials,
    openPrices: async () => (await import('../prices/index.ts')).openPrices(),
    tokenizer,
    readFile: readText,
    openStore: (settings) => openNodeStore(settings),
    openShared: openNodeSharedState,
    fingerprint: nodeFingerprint(),
    digest: nodeDigest,
    isUtf8,
    metrics: nodeMetrics,
    traces: nodeTraces({ env, send: upstream.send, readFile: readText }),
    bufferLimit: Math.floor(getHeapStatistics().heap_size_limit / 4),
    env,
    proxies: rules.logFields,
    flush,
    close() {
      upstream.close()
      tokenizer.close()
      return flush()
    },
  }
}
