import type { UpstreamRequest } from '../../src/index.ts'
import type { TestGateway } from './gateway.ts'
import { json, type Responder } from './scripted-upstream.ts'

/** Sends an embeddings request for model `m`. */
export function embed({ gateway }: TestGateway, fields: object): Promise<Response> {
  const request = new Request('http://gateway.test/v1/embeddings', {
    method: 'POST',
    body: JSON.stringify({ model: 'm', ...fields }),
  })
  return gateway.fetch(request)
}

/** Two providers with one model each; the first falls back to the second. */
export const twoLinks = `
[resilience]
retry_max_attempts = 2
retry_base_ms = 100
[[providers]]
name = "first"
kind = "cohere"
base_url = "http://first.test"
[[providers.models]]
id = "m"
capabilities = ["embed"]
fallbacks = ["other"]
[[providers]]
name = "second"
kind = "openai"
base_url = "http://second.test/v1"
[[providers.models]]
id = "other"
capabilities = ["embed"]
`

/** A response in OpenAI's format with these vectors. */
export function vectors(list: readonly unknown[], tokens?: number): Responder {
  return json({
    object: 'list',
    data: list.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    model: 'upstream-m',
    ...(tokens !== undefined && { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
  })
}

/** The items of an OpenAI-shaped or Cohere-shaped request. */
export function readItems({ body }: UpstreamRequest): string[] {
  const sent = JSON.parse(new TextDecoder().decode(body)) as { input?: string[]; texts?: string[] }
  return sent.input ?? sent.texts ?? []
}

/** Answers like the vendor: each text `tN` gets the vector `[N, 0.5]` and counts as one token. */
export const numbered: Responder = (request) => {
  const items = readItems(request)
  const found = items.map((item) => [Number(item.slice(1)), 0.5])
  const answer = request.url.endsWith('/v2/embed')
    ? json({ embeddings: { float: found }, meta: { billed_units: { input_tokens: items.length } } })
    : vectors(found, items.length)
  return answer(request)
}

/** The texts `t0`, `t1`, … */
export function texts(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `t${index}`)
}

export interface EmbedBody {
  readonly object: string
  readonly data: readonly { readonly index: number; readonly embedding: number[] }[]
  readonly model: string
  readonly usage: { readonly prompt_tokens: number; readonly estimated?: boolean }
}

/** Returns the body of a successful response. */
export async function readOkBody(response: Response): Promise<EmbedBody> {
  return (await response.json()) as EmbedBody
}
