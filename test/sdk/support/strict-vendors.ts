import { nodePorts, serve } from '../../../adapters/node/index.ts'
import { upstreamKey } from '../../../scripts/conformance/upstream/dialect.ts'
import { scenarioNames } from '../../../scripts/conformance/upstream/scenario.ts'
import { type Exchange, startUpstream } from '../../../scripts/conformance/upstream/server.ts'
import { createGateway, type Gateway } from '../../../src/index.ts'

/** The upstreams that clients are tried with, by the names of their models: `google--say`. */
export const upstreamKinds = ['openai', 'anthropic', 'google', 'bedrock', 'native'] as const

/** A gateway on a socket, in front of models that are as strict as those of their vendors. */
export interface StrictVendors {
  /** The base URL for clients of OpenAI. */
  readonly baseURL: string
  readonly gateway: Gateway
  /** The requests that the vendors have received. */
  readonly exchanges: readonly Exchange[]
  /** Lists the requests that a vendor has refused, or that lack a proof of reasoning. */
  listFaults(): readonly Exchange[]
  close(): Promise<void>
}

const models: Readonly<Record<string, string>> = {
  openai: 'gpt-5',
  anthropic: 'claude-sonnet-4-5',
  google: 'gemini-3-pro',
  bedrock: 'eu.anthropic.claude-sonnet-4-5',
}

/** Starts the vendors, and a second gateway that speaks the Responses API natively to the first. */
export async function startStrictVendors(): Promise<StrictVendors> {
  const upstream = await startUpstream()
  const inner = await start(Object.keys(models).map((kind) => provide(kind, upstream.address)))
  const outer = await start([
    ...Object.keys(models).map((kind) => provide(kind, upstream.address)),
    `
[[providers]]
name = "native"
kind = "openai"
base_url = "${inner.host.address}/v1"
responses = true
${listModels('native', (scenario) => `openai--${scenario}`)}`,
  ])
  return {
    baseURL: `${outer.host.address}/v1`,
    gateway: outer.gateway,
    exchanges: upstream.exchanges,
    listFaults: () =>
      upstream.exchanges.filter(
        ({ refusal, lacksProof }) => (refusal && !refusal.isScripted) || lacksProof,
      ),
    async close() {
      await outer.host.close()
      await inner.host.close()
      await upstream.close()
    },
  }
}

async function start(providers: readonly string[]) {
  const gateway = await createGateway({
    ...nodePorts(),
    env: { UPSTREAM_KEY: upstreamKey },
    log: () => ({ enabled: () => false, write() {} }),
    config: `
[server]
port = 1
sse_heartbeat_ms = 20
[resilience]
retry_max_attempts = 1
circuit_failure_threshold = 1000
${providers.join('')}`,
  })
  return { gateway, host: await serve(gateway, { port: 0 }) }
}

function provide(kind: string, address: string): string {
  const base = kind === 'openai' ? '/openai/v1' : `/${kind}`
  return `
[[providers]]
name = "${kind}"
kind = "${kind}"
base_url = "${address}${base}"
api_key_env = "UPSTREAM_KEY"
${listModels(kind, (scenario) => `${models[kind]}--${scenario}`)}`
}

function listModels(prefix: string, toUpstreamId: (scenario: string) => string): string {
  const entries = scenarioNames.map(
    (scenario) => `
[[providers.models]]
id = "${prefix}--${scenario}"
upstream_id = "${toUpstreamId(scenario)}"
modalities = ["text", "image"]
reasoning = true
`,
  )
  return entries.join('')
}
