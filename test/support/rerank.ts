import type { TestGateway } from './gateway.ts'
import { json, type Responder } from './scripted-upstream.ts'

export interface RerankSetup {
  readonly kind: string
  readonly provider?: Readonly<Record<string, string | boolean>>
  readonly model?: { readonly upstream_id: string }
}

/** A configuration with one provider of a kind and its model `m`. Self-hosted servers get no key. */
export function rerankConfig({ kind, provider = {}, model }: RerankSetup): string {
  const isOwn = ['tei', 'vllm'].includes(kind) || provider['base_url'] === 'http://nim:8000/v1'
  const settings = { name: 'p', kind, ...(!isOwn && { api_key_env: 'P_KEY' }), ...provider }
  return `
[[providers]]
${toml(settings)}
[[providers.models]]
${toml({ id: 'm', capabilities: ['rerank'], ...model })}
`
}

function toml(values: object): string {
  return Object.entries(values)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
    .join('\n')
}

/** Sends a rerank request for model `m`. */
export function rerank(
  { gateway }: TestGateway,
  fields: object,
  path = '/v1/rerank',
): Promise<Response> {
  const request = new Request(`http://gateway.test${path}`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', ...fields }),
  })
  return gateway.fetch(request)
}

/** Three documents; the last one answers the query. */
export const otters = {
  query: 'what do otters eat',
  documents: ['Otters have brown fur.', 'Tax is due in May.', 'An otter dives for fish.'],
} as const

/** The gateway's estimate of the tokens of `otters`: a quarter of the bytes of each document and query. */
export const otterTokens = 3 * 5 + 6 + 5 + 6

/** A response in Cohere's format: index and score of each document. */
export function scores(
  list: readonly (readonly [index: number, score: unknown])[],
  more: object = {},
): Responder {
  const results = list.map(([index, score]) => ({ index, relevance_score: score }))
  return json({ results, ...more })
}

export interface RerankBody {
  readonly model: string
  readonly results: readonly {
    readonly index: number
    readonly relevance_score: number
    readonly document?: { readonly text: string }
  }[]
  readonly usage: object
}

/** Returns the body of a successful response. */
export async function readOkBody(response: Response): Promise<RerankBody> {
  return (await response.json()) as RerankBody
}
