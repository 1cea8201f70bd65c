import { describe, expect, test } from 'vitest'
import { hello } from '../support/answers.ts'
import { readError } from '../support/gateway.ts'
import { type Responder, stream, whole } from '../support/scripted-upstream.ts'
import { readStream, streamed, terminal } from '../support/stream-client.ts'
import { apiKinds } from '../support/translated-kinds.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

/** A configuration with one model of a kind that has its own response parser. */
const config = (kind: string) => `
[resilience]
retry_max_attempts = 2
retry_base_ms = 10
[[providers]]
name = "p"
kind = "${kind}"
api_key_env = "P_KEY"
base_url = "http://p.test"
[[providers.models]]
id = "m"
capabilities = ${kind === 'cohere' ? '["chat", "embed", "rerank"]' : '["chat"]'}
`

/** Parsing this would block the event loop for a second. */
const deep = '['.repeat(1_500_000)

const malformed = 'provider p sent a malformed answer: its JSON is nested too deeply'

async function answered(kind: string, path: string, body: object, answer: Responder) {
  const { gateway, upstream, clock } = await watchedGateway(config(kind))
  upstream.always(answer)
  const request = new Request(`http://gateway.test${path}`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', ...body }),
  })
  const pending = gateway.fetch(request)
  await clock.advance(100)
  const response = await pending
  return { response, calls: upstream.requests.length }
}

describe('an answer over a megabyte that is nested too deeply is malformed and retried', () => {
  const messages = [{ role: 'user', content: 'Hi' }]
  test.each<readonly [kind: string, path: string, body: object]>([
    ...['openai', ...apiKinds].map((kind) => [kind, '/v1/chat/completions', { messages }] as const),
    ['cohere', '/v1/embeddings', { input: 'Hi' }],
    ['cohere', '/v1/rerank', { query: 'Hi', documents: ['a'] }],
  ])('%s, %s', async (kind, path, body) => {
    const { response, calls } = await answered(kind, path, body, whole(`{"id":${deep}`))
    expect(response.status).toBe(502)
    expect(await readError(response)).toMatchObject({ code: 'LM-3002', message: malformed })
    expect(calls).toBe(2)
  })
})

describe('a frame over a megabyte that is nested too deeply', () => {
  const frame = `data: {"id":${deep}\n\n`

  test('a frame nested too deeply fails the attempt before the first content', async () => {
    const { chat, upstream, clock } = await watchedGateway(config('openai'))
    upstream.always(stream([frame]))
    const pending = chat(streamed())
    await clock.advance(100)
    const response = await pending
    expect(response.status).toBe(502)
    expect(await readError(response)).toMatchObject({ code: 'LM-3002', message: malformed })
    expect(upstream.requests).toHaveLength(2)
  })

  test('a frame nested too deeply ends a committed stream with an error frame', async () => {
    const gateway = await watchedGateway(config('openai'))
    gateway.upstream.always(stream([hello, frame]))
    expect(await readStream(gateway)).toBe(hello + terminal(malformed))
  })
})
