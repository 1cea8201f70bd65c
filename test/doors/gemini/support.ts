import type { TestGateway } from '../../support/gateway.ts'
import { type WatchedOptions, watchedGateway } from '../../support/watched-gateway.ts'

/** A gateway with a native link `gemini`, and links `m` and `claude` that speak other APIs. */
export const links = `
[resilience]
retry_max_attempts = 1
[[providers]]
name = "g"
kind = "google"
api_key_env = "P_KEY"
models = [{ id = "gemini", upstream_id = "gemini-3.5-pro", modalities = ["text", "image"] }]
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
models = [{ id = "m", upstream_id = "upstream-m", modalities = ["text", "image"] }]
[[providers]]
name = "a"
kind = "anthropic"
api_key_env = "P_KEY"
models = [{ id = "claude", upstream_id = "claude-sonnet-4-5", modalities = ["text", "image"] }]
`

export function geminiGateway(
  config: string = links,
  options: WatchedOptions = {},
): Promise<TestGateway> {
  return watchedGateway(config, options)
}

/** Posts to a method of a model, `m:generateContent` by default. */
export function post(
  { get }: Pick<TestGateway, 'get'>,
  body: unknown,
  {
    path = '/v1beta/models/m:generateContent',
    ...init
  }: RequestInit & { readonly path?: string } = {},
): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return get(path, { method: 'POST', body: text, ...init })
}

export const streaming = '/v1beta/models/m:streamGenerateContent?alt=sse'

/** A request with one text of the user, and these fields. */
export function asking(fields: object = {}): object {
  return { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], ...fields }
}

/** The chunks of a stream of events. Nothing else may stand in it but heartbeats. */
export function parseChunks(stream: string): Record<string, unknown>[] {
  return stream.split('\n\n').flatMap((event) => {
    if (event === '') return []
    if (!event.startsWith('data: ')) throw new Error(`not a chunk: ${event}`)
    return [JSON.parse(event.slice('data: '.length))]
  })
}

export interface ReadPart {
  readonly text?: string
  readonly thought?: boolean
  readonly thoughtSignature?: string
  readonly functionCall?: { readonly id: string; readonly name: string; readonly args: unknown }
}

/** The parts of the first candidate of an answer, or of all chunks of a stream. */
export function listParts(...answers: readonly unknown[]): readonly ReadPart[] {
  return answers.flatMap((answer) => {
    // An answer of the gateway.
    const { candidates = [] } = answer as {
      readonly candidates?: readonly {
        readonly content?: { readonly parts?: readonly ReadPart[] }
      }[]
    }
    return candidates[0]?.content?.parts ?? []
  })
}
