import type { TestGateway } from '../../support/gateway.ts'

export interface EmbedSetup {
  readonly kind: string
  readonly provider?: Readonly<Record<string, string | boolean>>
  readonly model: { readonly upstream_id: string; readonly modalities?: readonly string[] }
}

/** One provider of a kind, with model `m`. Servers of one's own get no key. */
export function embedConfig({ kind, provider = {}, model }: EmbedSetup): string {
  const isOwn =
    ['tei', 'vllm', 'ollama'].includes(kind) || provider['base_url'] === 'http://nim:8000'
  const settings = { name: 'p', kind, ...(!isOwn && { api_key_env: 'P_KEY' }), ...provider }
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
export function post({ gateway }: TestGateway, body: unknown): Promise<Response> {
  const request = new Request('http://gateway.test/v1/embeddings', {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return gateway.fetch(request)
}

/** An answer that may take retries: time passes until it is there. */
export async function patiently<T>({ clock }: TestGateway, answer: Promise<T>): Promise<T> {
  await clock.advance(120_000)
  return answer
}
