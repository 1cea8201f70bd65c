import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { completion } from '../../support/answers.ts'
import { json, type Responder, stream, whole } from '../../support/scripted-upstream.ts'
import { geminiGateway, listParts, parseChunks, post } from './support.ts'

/** A request as a client has sent it, and an answer that the client has accepted. */
interface Recorded {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body?: object
  readonly answer: {
    readonly status: number
    readonly body?: object
    readonly stream?: 'sse' | 'json array'
    readonly chunks?: readonly object[]
  }
}

const recorded: readonly Recorded[] = JSON.parse(
  readFileSync(new URL('../../fixtures/google/client-requests.json', import.meta.url), 'utf8'),
)

const chatIds = [
  'gemini-2.5-flash',
  'gemini-3-pro-preview',
  'gemini-3.5-flash-lite',
  'safety',
  'err-429-ri-ra',
]
const embedIds = ['gemini-embedding-001', 'gemini-embedding-2']

function gatewayOf(kind: string) {
  const rows = [
    ...chatIds.map((id) => `{ id = "${id}", modalities = ["text", "image"] }`),
    ...embedIds.map((id) => `{ id = "${id}", capabilities = ["embed"] }`),
  ]
  return geminiGateway(`
[resilience]
retry_max_attempts = 1
[[providers]]
name = "p"
kind = "${kind}"
api_key_env = "P_KEY"
models = [${rows.join(', ')}]
`)
}

function send(gateway: Awaited<ReturnType<typeof gatewayOf>>, { body, path, ...one }: Recorded) {
  const { method, headers } = one
  return method === 'GET'
    ? gateway.get(path, { headers: { ...headers, 'x-goog-api-key': 'k' } })
    : post(gateway, body, { path, headers })
}

function respond({ status, body, chunks }: Recorded['answer']): Responder {
  if (!chunks) return whole(JSON.stringify(body), { status })
  return stream(chunks.map((one) => `data: ${JSON.stringify(one)}\r\n\r\n`))
}

/** What the gateway answers by itself. */
const own = /models(?:\/gemini-2\.5-flash)?$|interactions|upload|:predict$/
const asked = recorded.filter(({ path }) => !own.test(path))
const generated = asked.filter(({ path }) => /enerateContent/.test(path))

describe('a request of a client, at a link that speaks its API', () => {
  test.each(asked.map((one) => [one.name, one] as const))('%s', async (_, one) => {
    const gateway = await gatewayOf('google')
    const { answer } = one
    gateway.upstream.always(respond(answer))
    const response = await send(gateway, one)
    expect(response.status).toBe(answer.status)
    const method = /:(\w+)/.exec(one.path)?.[1]
    expect(gateway.upstream.requests[0]?.url).toContain(`/v1beta/models/`)
    expect(gateway.upstream.requests[0]?.url).toContain(`:${method}`)
    const { labels: _labels, ...body } = (one.body ?? {}) as Record<string, unknown>
    expect(gateway.upstream.body(0)).toEqual(body)
    const text = await response.text()
    if (answer.status === 429) {
      expect(JSON.parse(text).error).toMatchObject({
        code: 429,
        status: 'RESOURCE_EXHAUSTED',
        message: expect.stringContaining('scripted 429'),
      })
    } else if (answer.stream === 'json array') {
      expect(JSON.parse(text)).toEqual(answer.chunks)
      expect(text.endsWith(']')).toBe(true)
    } else if (answer.chunks) {
      expect(parseChunks(text.replaceAll('\r\n', '\n'))).toEqual(answer.chunks)
    } else expect(text).toBe(JSON.stringify(answer.body))
  })
})

/** The messages of a chat request in short: their roles, parts, calls and results. */
function outline(sent: unknown): string {
  // A chat request of the gateway.
  const { messages } = sent as {
    readonly messages: readonly {
      readonly role: string
      readonly content?: string | readonly { readonly type: string }[] | null
      readonly tool_calls?: readonly { readonly id: string }[]
      readonly tool_call_id?: string
    }[]
  }
  return messages
    .map(({ role, content, tool_calls: calls = [], tool_call_id: id }) => {
      const parts = Array.isArray(content) ? content.map(({ type }) => type) : []
      const all = [...parts, ...calls.map((call) => call.id), ...(id ? [id] : [])]
      return all.length === 0 ? role : `${role}(${all.join(' ')})`
    })
    .join(' ')
}

/** The messages that the upstream gets, for the requests that have more than one text. */
const outlines: Readonly<Record<string, string>> = {
  'tool results of parallel calls':
    'user assistant(call_7 call_7b) tool(call_7) tool(call_7b) user(text image_url text image_url)',
  'config: mixed spellings': 'system user',
  'image: mime_type': 'user(text image_url)',
  'automatic function calling': 'user assistant(call_66) tool(call_66)',
  'tool loop, second turn': 'user assistant(call_1) tool(call_1)',
  'langchain-google-genai 4.4.3: image': 'user(text image_url)',
  'stream without alt=sse': 'system user',
  'routing question': 'system user',
  'main turn': 'system user',
  'turn after read_file': 'system user assistant(call_121) tool(call_121) user(image_url)',
}

describe('a request of a client, at a link of the OpenAI format', () => {
  test.each(generated.map((one) => [one.name, one] as const))('%s', async (name, one) => {
    const gateway = await gatewayOf('openai')
    const isStream = one.answer.chunks !== undefined
    const chunk = { choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' }] }
    const events = [`data: ${JSON.stringify(chunk)}\n\n`, 'data: [DONE]\n\n']
    gateway.upstream.always(isStream ? stream(events) : json(completion('Hello')))
    const response = await send(gateway, one)
    if (one.body && 'cachedContent' in one.body) {
      const [info] = (await response.json()).error.details
      expect([response.status, info.metadata.param]).toEqual([400, 'cachedContent'])
      return
    }
    expect(response.status).toBe(200)
    const text = await response.text()
    const isArray = one.answer.stream === 'json array'
    const chunks = isStream && !isArray ? parseChunks(text) : [JSON.parse(text)].flat()
    expect(listParts(...chunks)[0]).toEqual({ text: 'Hello' })
    expect(chunks.at(-1)).toMatchObject({
      candidates: [{ finishReason: 'STOP' }],
      usageMetadata: { totalTokenCount: expect.any(Number) },
    })
    const [, expected = 'user'] =
      Object.entries(outlines).find(([part]) => name.includes(part)) ?? []
    expect(outline(gateway.upstream.body(0))).toBe(expected)
  })

  const others = asked.filter((one) => !generated.includes(one))
  test.each(others.map((one) => [one.name, one] as const))('%s', async (_, one) => {
    const gateway = await gatewayOf('openai')
    const { requests = [] } = (one.body ?? {}) as { requests?: readonly object[] }
    const data = requests.map((_each, index) => ({ index, embedding: [0.1, 0.2] }))
    gateway.upstream.always(json({ data, usage: { prompt_tokens: 3, total_tokens: 3 } }))
    const response = await send(gateway, one)
    const answer = await response.json()
    expect(response.status).toBe(200)
    if (requests.length === 0) expect(answer).toMatchObject({ totalTokens: expect.any(Number) })
    else expect(answer.embeddings).toEqual(requests.map(() => ({ values: [0.1, 0.2] })))
  })
})

describe('a request of a client that the gateway answers by itself', () => {
  const owned = recorded.filter((one) => own.test(one.path))
  test.each(owned.map((one) => [one.name, one] as const))('%s', async (_, one) => {
    const gateway = await gatewayOf('google')
    const response = await send(gateway, one)
    const answer = await response.json()
    if (one.method === 'POST') {
      expect([response.status, answer.error.status]).toEqual([404, 'NOT_FOUND'])
    } else if (one.path.endsWith('/models')) {
      expect(answer.models[0]).toMatchObject({
        name: 'models/gemini-2.5-flash',
        supportedGenerationMethods: ['generateContent', 'countTokens'],
      })
    } else expect(answer.name).toBe('models/gemini-2.5-flash')
  })
})
