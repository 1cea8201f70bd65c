import assert from 'node:assert/strict'
import { isObject, tryParseJson } from '../../../src/wire/json/parse.ts'
import { type TestGateway, testGateway } from '../../support/gateway.ts'
import { whole } from '../../support/scripted-upstream.ts'
import { readJson, readRequests } from '../fixtures.ts'
import type { FuzzTarget } from '../target.ts'

/*
 * The whole gateway, with a provider of each API. No body of a client or an upstream makes it fail with
 * an internal error.
 */

const embedModels = {
  openai: 'e',
  azure: 'e',
  cohere: 'embed-v4.0',
  google: 'gemini-embedding-001',
  bedrock: 'amazon.titan-embed-text-v2:0',
  tei: 'e',
  ollama: 'e',
  jina: 'e',
  voyage: 'e',
  mixedbread: 'e',
}
const rerankModels = {
  cohere: 'rerank-v3.5',
  bedrock: 'cohere.rerank-v3-5:0',
  tei: 'r',
  jina: 'r',
  voyage: 'r',
  mixedbread: 'r',
  pinecone: 'r',
}
const decisionModels = { openai: 'd', typesafe: 'd', cloudflare: 'd' }
const chatModels = { openai: 'c', anthropic: 'c', google: 'c', bedrock: 'c', cohere: 'c' }

const models = Object.entries({
  embed: embedModels,
  rerank: rerankModels,
  decisions: decisionModels,
  chat: chatModels,
}).flatMap(([capability, all]) =>
  Object.entries(all).map(([kind, upstreamId]) => ({
    id: `${capability}-${kind}`,
    kind,
    capability,
    upstreamId,
  })),
)

const config = `[resilience]
retry_max_attempts = 1
circuit_failure_threshold = 1000000
${models
  .map(
    ({ id, kind, capability, upstreamId }) => `
[[providers]]
name = "${id}"
kind = "${kind}"
api_key_env = "P_KEY"
base_url = "https://${kind}.test"
models = [{ id = "${id}", upstream_id = "${upstreamId}", capabilities = ["${capability}"] }]
`,
  )
  .join('')}`

let opened: Promise<TestGateway> | undefined

/** Sends a request whose upstream call has this answer, and checks the response. */
async function send(
  path: string,
  body: Uint8Array<ArrayBuffer>,
  answer: Uint8Array,
): Promise<void> {
  opened ??= testGateway(config, { env: { P_KEY: 'id:secret', AWS_REGION: 'us-east-1' } })
  const { gateway, upstream, log } = await opened
  upstream.always(whole(answer))
  const request = new Request(`http://gateway.test${path}`, { method: 'POST', body })
  const response = await gateway.fetch(request)
  const text = await response.text()
  assert.notEqual(response.status, 500, text)
  assert.doesNotMatch(text, /LM-5001/)
  assert.deepEqual(
    log.filter(({ level }) => level === 'error'),
    [],
  )
  upstream.requests.length = 0
  log.length = 0
}

const paths = [
  ['/v1/chat/completions', 'chat'],
  ['/v1/messages', 'chat'],
  ['/v1/messages/count_tokens', 'chat'],
  ['/v1/responses', 'chat'],
  ['/v1/completions', 'chat'],
  ['/v1/embeddings', 'embed'],
  ['/v1/rerank', 'rerank'],
  ['/v1/decisions', 'decisions'],
  ['/v1/systemone', 'decisions'],
] as const

/** The first byte is the path, the second one the model, which replaces that of the body. */
export const requests: FuzzTarget = {
  seeds: [
    ...readRequests('anthropic'),
    ...readRequests('google'),
    '{"input":[{"role":"user","content":[{"type":"input_text","text":"a"}]}],"tools":[{"type":"function","name":"f","parameters":{}}]}',
    '{"max_tokens":5,"system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]}',
    '{"input":["a","b"],"encoding_format":"base64","dimensions":3}',
    '{"query":"q","documents":["a",{"text":"b"}],"top_n":1}',
    '{"input":[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AA"}]}],"questions":[{"type":"predicate"}]}',
    '{"state":{"a":1},"images":["x"],"questions":{"q":{"type":"noul"}}}',
    '{"prompt":["a"],"max_tokens":1}',
  ].flatMap((body, at) => [`${String.fromCharCode(at % 7)}\u0000${body}`]),
  words: [
    '"messages":',
    '"role":"tool"',
    '"role":"assistant"',
    '"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]',
    '"content":',
    '"type":"image_url"',
    '"image_url":"data:image/png;base64,AAAA"',
    '"response_format":{"type":"json_schema","json_schema":{"schema":{}}}',
    '"$ref":"#"',
    '"tool_choice":',
    '"stop":',
    '"stream":true',
    '"input":',
    '"documents":',
    'null',
    '[]',
    '{}',
    '[[1]]',
    '""',
    '"\\ud83e"',
    '1e400',
    '-1',
    '"__proto__":',
  ],
  async check(input) {
    const [path, capability] = paths[(input[0] ?? 0) % paths.length] ?? paths[0]
    const own = models.filter((model) => model.capability === capability)
    const model = own[(input[1] ?? 0) % own.length]?.id
    const body = tryParseJson(input.subarray(2))
    const sent = isObject(body) ? Buffer.from(JSON.stringify({ ...body, model })) : input.slice(2)
    await send(path, sent, Buffer.from('{}'))
  },
}

interface AnswerFixture {
  readonly upstream: { readonly body?: unknown }
}

const answersOf = (name: string) =>
  readJson<AnswerFixture[]>(`../fixtures/${name}/answers.json`).map(({ upstream }) =>
    JSON.stringify(upstream.body ?? {}),
  )

/** The first byte is the model. */
export const vectorAnswers: FuzzTarget = {
  seeds: answersOf('embeddings').map((body, at) => String.fromCharCode(at) + body),
  words: [
    '"embedding":',
    '"data":',
    '[0.1,0.2]',
    '[[',
    ']]',
    '"AAAAAA=="',
    '"index":',
    'null',
    '{}',
    '-1',
  ],
  async check(input) {
    const own = models.filter(({ capability }) => capability === 'embed')
    const model = own[(input[0] ?? 0) % own.length]?.id
    const body = Buffer.from(JSON.stringify({ model, input: ['a', 'b'] }))
    await send('/v1/embeddings', body, input.slice(1))
  },
}

/** The first byte is the model. */
export const rankings: FuzzTarget = {
  seeds: answersOf('rerank').map((body, at) => String.fromCharCode(at) + body),
  words: [
    '"results":',
    '"index":',
    '"relevance_score":',
    'null',
    '[]',
    '{}',
    '-1',
    '1e400',
    '"score":',
  ],
  async check(input) {
    const own = models.filter(({ capability }) => capability === 'rerank')
    const model = own[(input[0] ?? 0) % own.length]?.id
    const body = Buffer.from(JSON.stringify({ model, query: 'q', documents: ['a', 'b'] }))
    await send('/v1/rerank', body, input.slice(1))
  },
}
