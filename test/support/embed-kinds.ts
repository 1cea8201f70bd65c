import type { TestGateway } from './gateway.ts'

export interface EmbedSetup {
  readonly kind: string
  readonly provider?: Readonly<Record<string, string | boolean>>
  readonly model: {
    readonly upstream_id: string
    readonly modalities?: readonly string[]
    readonly input_type?: string
    readonly max_batch_size?: number
  }
}

/** A configuration with one provider of a kind and its model `m`. Self-hosted servers get no key. */
export function embedConfig({ kind, provider = {}, model }: EmbedSetup): string {
  const isSelfHosted =
    ['tei', 'vllm', 'ollama'].includes(kind) || provider['base_url'] === 'http://nim:8000'
  const settings = { name: 'p', kind, ...(!isSelfHosted && { api_key_env: 'P_KEY' }), ...provider }
  const entry = { id: 'm', capabilities: ['embed'], ...model }
  return `
[[providers]]
${toml(settings)}
[[providers.models]]
${toml(entry)}
`
}

function toml(values: object): string {
  return Object.entries(values)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
    .join('\n')
}

/** Sends an embeddings request. */
export function postEmbeddings({ gateway }: TestGateway, body: unknown): Promise<Response> {
  const request = new Request('http://gateway.test/v1/embeddings', {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return gateway.fetch(request)
}

/** Returns the answer of a request that may be retried: advances the clock by two minutes. */
export async function afterRetries<T>({ clock }: TestGateway, promised: Promise<T>): Promise<T> {
  await clock.advance(120_000)
  return promised
}
