import type { ByteSource } from '../../src/core/ports.ts'
import type { GatewayOptions } from '../../src/index.ts'
import type { TestGateway } from '../support/gateway.ts'
import { testGateway } from '../support/gateway.ts'
import { masterKey } from '../support/keyed-gateway.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { type Responder, whole } from '../support/scripted-upstream.ts'
import type { AnswerAxis } from './answers.ts'
import type { Axis, Body, DoorPath } from './bodies.ts'

/** The models of the gateway, one for each way of writing requests and of reading answers. */
const links = [
  { id: 'openai', kind: 'openai', upstreamId: 'gpt-4' },
  { id: 'anthropic', kind: 'anthropic', upstreamId: 'claude-sonnet-4-5' },
  { id: 'google', kind: 'google', upstreamId: 'gemini-2.5-flash' },
  { id: 'vertex', kind: 'vertex_ai', upstreamId: 'gemini-2.5-flash' },
  { id: 'bedrock', kind: 'bedrock', upstreamId: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0' },
  { id: 'nova', kind: 'bedrock', upstreamId: 'amazon.nova-pro-v1:0' },
  { id: 'cohere', kind: 'cohere', upstreamId: 'command-a-03-2025' },
] as const

/** The ids of the models; `native` speaks the Responses API too, and `chain` has several translated links. */
export const models: readonly string[] = [...links.map(({ id }) => id), 'native', 'chain']

const config = [
  `
      [resilience]
      retry_max_attempts = 1
      circuit_failure_threshold = 1_000_000`,
  ...links.map(({ id, kind, upstreamId }) => {
    const path = kind === 'vertex_ai' ? '/v1/projects/p/locations/l' : ''
    return `
      [[providers]]
      name = "${id}"
      kind = "${kind}"
      api_key_env = "P_KEY"
      base_url = "https://${id}.test${path}"
      models = [{ id = "${id}", upstream_id = "${upstreamId}", modalities = ["text", "image"] }]`
  }),
  `
      [[providers]]
      name = "native"
      kind = "openai"
      api_key_env = "P_KEY"
      models = [{ id = "native", modalities = ["text", "image"] }]`,
  `
      [[providers]]
      name = "chain"
      kind = "anthropic"
      api_key_env = "P_KEY"
      base_url = "https://chain.test"
      [[providers.models]]
      id = "chain"
      upstream_id = "claude-sonnet-4-5"
      modalities = ["text", "image"]
      fallbacks = ["google", "bedrock", "nova", "cohere"]`,
  ...(['embed', 'rerank'] as const).map(
    (capability) => `
      [[providers]]
      name = "${capability}"
      kind = "cohere"
      api_key_env = "P_KEY"
      models = [{ id = "${capability}", capabilities = ["${capability}"] }]`,
  ),
  `
      [[providers]]
      name = "decisions"
      kind = "openai"
      api_key_env = "P_KEY"
      models = [{ id = "decisions", modalities = ["text", "image"], capabilities = ["decisions"] }]`,
].join('\n')

/** A gateway with all these models, whose upstreams are scripted. */
export function growthGateway(options: Partial<GatewayOptions> = {}): Promise<TestGateway> {
  return testGateway(config, { env: { P_KEY: 'AQ.key' }, ...options })
}

/** The same gateway with the admin API, which explains requests. */
export function explainingGateway(options: Partial<GatewayOptions> = {}): Promise<TestGateway> {
  const store = new MemoryStore()
  return testGateway(`${config}\n[auth]\nenabled = true`, {
    env: { P_KEY: 'AQ.key', GATEWAY_MASTER_KEY: masterKey },
    openStore: async () => store,
    ...options,
  })
}

/** Creates a key on a gateway with the admin API. */
export async function createKey({ get }: TestGateway, fields: object): Promise<string> {
  const headers = { authorization: `Bearer ${masterKey}` }
  const body = JSON.stringify({ name: 'a key', ...fields })
  const response = await get('/admin/keys', { method: 'POST', headers, body })
  return String(((await response.json()) as { readonly key: unknown }).key)
}

/** What a gateway has made of a request. */
export interface Outcome {
  readonly status: number
  readonly body: string
  /** The bytes that it has sent to the upstream, or to the client. */
  readonly written: number
}

interface AnsweredOutcome extends Outcome {
  /** Returns the whole answer; `body` is its beginning. */
  readonly readAll: () => string
}

export interface SentBody {
  readonly door: DoorPath
  readonly model: string
  readonly body: string | Uint8Array<ArrayBuffer>
  readonly key?: string
}

/** Returns the path of a door. The Gemini API names the model in it. */
function pathOf(door: DoorPath | AnswerDoor, model: string): string {
  const place = `/v1beta/models/${model}`
  switch (door) {
    case 'gemini':
      return `${place}:generateContent`
    case 'gemini/count_tokens':
      return `${place}:countTokens`
    case 'gemini/events':
      return `${place}:streamGenerateContent?alt=sse`
    case 'gemini/array':
      return `${place}:streamGenerateContent`
    default:
      return `/v1/${door}`
  }
}

/** Sends a body to a door. The upstream refuses it, so that no answer adds to the time. */
export async function sendBody(
  { get, upstream }: TestGateway,
  { door, model, body, key }: SentBody,
): Promise<Outcome> {
  upstream.requests.length = 0
  // Only the links of a chain go on after a failure of the provider.
  upstream.always(whole('{}', { status: model === 'chain' ? 503 : 400 }))
  const headers: Record<string, string> =
    key === undefined ? {} : { authorization: `Bearer ${key}` }
  const response = await get(pathOf(door, model), { method: 'POST', headers, body })
  const answer = await response.text()
  const written = upstream.requests.reduce((sum, request) => sum + (request.body?.length ?? 0), 0)
  return { status: response.status, body: answer, written }
}

/** Writes the question how a gateway would handle a body, with the bytes of the body in it. */
export function writeExplainQuestion({
  door,
  model,
  body,
}: SentBody & { readonly body: string }): string {
  return `{"path":${JSON.stringify(pathOf(door, model))},"body":${body}}`
}

/** Asks `POST /admin/explain`. Nothing is sent upstream: `written` has the bytes of the explanation. */
export async function askForExplanation(
  { get }: TestGateway,
  question: string | Uint8Array<ArrayBuffer>,
): Promise<Outcome> {
  const headers = { authorization: `Bearer ${masterKey}` }
  const response = await get('/admin/explain', { method: 'POST', headers, body: question })
  const body = await response.text()
  return { status: response.status, body, written: body.length }
}

/** The one model of a door that not all models serve. */
export const servedBy: Readonly<Partial<Record<Axis['door'], string>>> = {
  embeddings: 'embed',
  rerank: 'rerank',
  decisions: 'decisions',
}

/** Writes the body of an axis for a model. */
export function writeBody({ door, make }: Axis, model: string, count: number): string {
  return JSON.stringify({ model: servedBy[door] ?? model, ...make(count, model) })
}

const words = { contents: [{ role: 'user', parts: [{ text: 'x' }] }] }
const questions = {
  'chat/completions': { messages: [{ role: 'user', content: 'x' }] },
  responses: { input: 'x' },
  messages: { max_tokens: 9, messages: [{ role: 'user', content: 'x' }] },
  gemini: words,
  'gemini/events': words,
  'gemini/array': words,
}

/** The doors that write answers. */
export type AnswerDoor = keyof typeof questions
const doors = Object.keys(questions) as readonly AnswerDoor[]

/** Lists the doors through which an answer can be asked for: the Gemini API names a stream in the path. */
export function listAnswerDoors({ isStream }: Pick<AnswerAxis, 'isStream'>): readonly AnswerDoor[] {
  return doors.filter((door) => !(isStream ? door === 'gemini' : door.startsWith('gemini/')))
}

const chunkBytes = 64 * 1024
const jsonHeaders = { 'content-type': 'application/json' }

export interface Question {
  readonly door: AnswerDoor
  readonly axis: AnswerAxis
  readonly answer: string | Uint8Array
  /** The members of the request besides its model; by default those of a short one. */
  readonly body?: Body
}

/** Answers with these bytes, of which the next ones have always arrived. */
function respondWith(
  answer: string | Uint8Array,
  headers: Readonly<Record<string, string>>,
): Responder {
  const bytes = typeof answer === 'string' ? Buffer.from(answer) : answer
  return async () => {
    let at = 0
    const body: ByteSource = {
      read: async () => {
        const from = at
        at = Math.min(from + chunkBytes, bytes.length)
        return at > from ? bytes.subarray(from, at) : undefined
      },
      cancel: () => {},
      drain: () => {},
    }
    return { status: 200, header: (name) => headers[name], body }
  }
}

/** Asks a question at a door; the upstream gives this answer. */
export async function sendQuestion(
  { get, upstream }: TestGateway,
  { door, axis, answer, body: asked = questions[door] }: Question,
): Promise<AnsweredOutcome> {
  const { model, isStream } = axis
  const isAmazon = model === 'bedrock'
  const headers = {
    'content-type': isAmazon ? 'application/vnd.amazon.eventstream' : 'text/event-stream',
  }
  upstream.always(respondWith(answer, isStream ? headers : jsonHeaders))
  const isGemini = door.startsWith('gemini')
  const body = JSON.stringify({ ...(isGemini ? {} : { model, stream: isStream }), ...asked })
  const response = await get(pathOf(door, model), { method: 'POST', body })
  // Not `arrayBuffer`: joining tens of megabytes would hold the event loop itself.
  const pieces: Uint8Array[] = []
  for await (const piece of response.body ?? []) pieces.push(piece)
  const [first] = pieces
  return {
    status: response.status,
    body: Buffer.from(first ?? []).toString('utf8', 0, 10_000),
    written: pieces.reduce((sum, { length }) => sum + length, 0),
    readAll: () => Buffer.concat(pieces).toString(),
  }
}
