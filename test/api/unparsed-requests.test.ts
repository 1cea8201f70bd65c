import { afterEach, expect, test, vi } from 'vitest'
import { claudeMessage, claudeStream } from '../support/claude-answers.ts'
import { keyedGateway, pricedProvider, used } from '../support/keyed-gateway.ts'
import { json, type Responder } from '../support/scripted-upstream.ts'

const config = `${pricedProvider}
[[providers]]
name = "c"
kind = "anthropic"
base_url = "http://c.test"
models = [{ id = "claude" }]
`

const long = { role: 'user', content: 'So “it” is. '.repeat(2_000) }
const tool = { name: 'f', description: 'Does f.', input_schema: { type: 'object' } }

afterEach(() => {
  vi.restoreAllMocks()
})

/** Sends a request with a key, and returns the length of the longest JSON text that is parsed. */
async function measureParsed(path: string, fields: object, answer: Responder): Promise<number> {
  const keyed = await keyedGateway(config)
  const key = await keyed.key({ budget_max: 100, rpm_limit: 10, tpm_limit: 1e6 })
  keyed.upstream.always(answer)
  const body = JSON.stringify({ max_tokens: 10, messages: [long], ...fields })
  const parse = vi.spyOn(JSON, 'parse')
  const response = await keyed.get(path, { method: 'POST', headers: key.headers, body })
  await response.arrayBuffer()
  const lengths = parse.mock.calls.map(([text]) => text.length)
  expect(response.status).toBe(200)
  return Math.max(0, ...lengths)
}

test.each([
  ['a chat request', '/v1/chat/completions', { model: 'm' }, used(9)],
  ['a Messages request', '/v1/messages', { model: 'claude', tools: [tool] }, claudeMessage()],
  ['a count', '/v1/messages/count_tokens', { model: 'claude' }, json({ input_tokens: 9 })],
  ['a Messages stream', '/v1/messages', { model: 'claude', stream: true }, claudeStream()],
])('with a key and limits, %s to its own API is not parsed', async (_, path, fields, answer) => {
  expect(await measureParsed(path, fields, answer)).toBeLessThan(1_000)
})

test.each([
  ['a chat request', '/v1/chat/completions', { model: 'claude' }, claudeMessage()],
  ['a Messages request', '/v1/messages', { model: 'm' }, used(9)],
])('%s to another API is parsed', async (_, path, fields, answer) => {
  expect(await measureParsed(path, fields, answer)).toBeGreaterThan(20_000)
})
