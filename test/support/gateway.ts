import { Registry } from 'prom-client'
import { createMetrics } from '../../adapters/node/ports/metrics.ts'
import { nodeStreams } from '../../adapters/node/streams/index.ts'
import { createGateway, type Gateway, type GatewayOptions, type Log } from '../../src/index.ts'
import { ManualClock } from './manual-clock.ts'
import { ScriptedUpstream } from './scripted-upstream.ts'

export interface TestGateway {
  readonly gateway: Gateway
  readonly upstream: ScriptedUpstream
  readonly clock: ManualClock
  readonly log: LogLine[]
  /** Sends a chat completion request. */
  chat(body: unknown, init?: RequestInit): Promise<Response>
  get(path: string, init?: RequestInit): Promise<Response>
}

export interface LogLine {
  readonly level: string
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** One provider `p` of kind openai, with model `m` that is `upstream-m` there. */
export const oneProvider = `
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
[[providers.models]]
id = "m"
upstream_id = "upstream-m"
`

/** The secret of `oneProvider`. */
export const providerKey = 'sk-test-canary-0123456789'

/** A gateway with a manual clock, fixed randomness, a scripted upstream and a captured log. */
export async function testGateway(
  config: string = oneProvider,
  options: Partial<GatewayOptions> = {},
): Promise<TestGateway> {
  const upstream = new ScriptedUpstream()
  const clock = new ManualClock()
  const log: LogLine[] = []
  const gateway = await createGateway({
    config,
    env: { P_KEY: providerKey },
    clock,
    upstream: upstream.port,
    streams: nodeStreams,
    log: () => arrayLog(log),
    metrics: () => createMetrics(new Registry()),
    random: () => 0,
    ...options,
  })
  const send = (path: string, init: RequestInit = {}) =>
    gateway.fetch(new Request(`http://gateway.test${path}`, init))
  return {
    gateway,
    upstream,
    clock,
    log,
    chat: (body, init) =>
      send('/v1/chat/completions', {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...init,
      }),
    get: send,
  }
}

function arrayLog(lines: LogLine[]): Log {
  return {
    enabled: () => true,
    write(level, message, fields = {}) {
      lines.push({ level, message, fields })
    },
  }
}

/** Returns the error object of a response. */
export async function readError(response: Response): Promise<Record<string, unknown>> {
  const body = (await response.json()) as { error: Record<string, unknown> }
  return body.error
}
