import { describe, expect, test } from 'vitest'
import { testGateway } from '../support/gateway.ts'
import { json } from '../support/scripted-upstream.ts'

const system = 'Be brief.'

/** What a client of each API sends for instructions beside an empty text of the user. */
const bodies: Readonly<Record<string, object>> = {
  '/v1/chat/completions': {
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: '' },
    ],
  },
  '/v1/messages': { max_tokens: 9, system, messages: [{ role: 'user', content: '' }] },
  '/v1/responses': { instructions: system, input: '' },
}

const noParts = { instructions: system, input: [{ role: 'user', content: [] }] }

async function send(kind: string, path: string, body?: object): Promise<unknown> {
  const { get, upstream } = await testGateway(`
[[providers]]
name = "p"
kind = "${kind}"
api_key_env = "P_KEY"
${kind === 'bedrock' ? 'base_url = "us-east-1"' : ''}
models = [{ id = "m" }]
`)
  upstream.next(json({ message: 'seen' }, { status: 400 }))
  const sent = JSON.stringify({ model: 'm', ...bodies[path], ...body })
  await get(path, { method: 'POST', body: sent })
  return upstream.body()
}

const user = (content: unknown) => ({ role: 'user', content })

describe('instructions beside an empty user text', () => {
  test.each([
    ['anthropic', '/v1/chat/completions', { system, messages: [user('.')] }],
    ['anthropic', '/v1/responses', { system, messages: [user('.')] }],
    ['bedrock', '/v1/chat/completions', { messages: [user([{ text: '.' }])] }],
    ['bedrock', '/v1/messages', { messages: [user([{ text: '.' }])] }],
    ['bedrock', '/v1/responses', { messages: [user([{ text: '.' }])] }],
    ['google', '/v1/chat/completions', { contents: [{ role: 'user', parts: [{ text: system }] }] }],
    ['google', '/v1/messages', { contents: [{ role: 'user', parts: [{ text: system }] }] }],
    ['google', '/v1/responses', { contents: [{ role: 'user', parts: [{ text: system }] }] }],
    ['cohere', '/v1/messages', { messages: [{ role: 'system', content: system }, user('.')] }],
    ['openai', '/v1/messages', { messages: [{ role: 'system', content: system }, user('')] }],
    ['groq', '/v1/responses', { messages: [{ role: 'system', content: system }, user('')] }],
  ])('reach %s through %s', async (kind, path, body) => {
    expect(await send(kind, path)).toMatchObject(body)
  })

  test('are sent where the content of a Responses client has no parts', async () => {
    const messages = [{ role: 'system', content: system }, user('')]
    expect(await send('groq', '/v1/responses', noParts)).toMatchObject({ messages })
  })
})
