import { expect, test } from 'vitest'
import { completion, data, hello, role, stop } from '../support/answers.ts'
import { oneProvider, testGateway } from '../support/gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'

const counts = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }

type Place = readonly [name: string, usage: object, read: object]

/** Where vendors put the details of their counts, and how clients of the Messages API find them. */
const places: readonly Place[] = [
  [
    'cache writes of DashScope',
    { ...counts, prompt_tokens_details: { cache_creation_input_tokens: 30 } },
    { cache_creation_input_tokens: 30, input_tokens: 70 },
  ],
  [
    'cached tokens at the top',
    { ...counts, cached_tokens: 40 },
    { cache_read_input_tokens: 40, input_tokens: 60 },
  ],
]

const ask = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }

async function readMessage(answer: object): Promise<unknown> {
  const { get, upstream } = await testGateway()
  upstream.next(json(answer))
  const response = await get('/v1/messages', { method: 'POST', body: JSON.stringify(ask) })
  return ((await response.json()) as { usage: unknown }).usage
}

test.each(places)('%s are read', async (_, usage, read) => {
  expect(await readMessage(completion('Hi', { usage }))).toMatchObject({
    output_tokens: 20,
    ...read,
  })
})

test('usage in the first choice, as Kimi has it, is read from answers and streams', async () => {
  const choice = {
    index: 0,
    message: { role: 'assistant', content: 'Hi' },
    finish_reason: 'stop',
    usage: counts,
  }
  expect(await readMessage({ choices: [choice] })).toMatchObject({
    input_tokens: 100,
    output_tokens: 20,
  })
  const { get, upstream } = await testGateway()
  const last = data({ choices: [{ index: 0, delta: {}, finish_reason: null, usage: counts }] })
  upstream.next(stream([role, hello, last, stop, data('[DONE]')]))
  const body = JSON.stringify({ ...ask, stream: true })
  const text = await (await get('/v1/messages', { method: 'POST', body })).text()
  expect(text).toContain('"output_tokens":20')
})

test('reasoning tokens at the top, as Perplexity has them, are read', async () => {
  const { get, upstream } = await testGateway(oneProvider.replace('"openai"', '"perplexity"'))
  upstream.next(json(completion('Hi', { usage: { ...counts, reasoning_tokens: 7 } })))
  const body = JSON.stringify({ model: 'm', input: 'Hi', store: false })
  const response = await get('/v1/responses', { method: 'POST', body })
  const { usage } = (await response.json()) as { usage: unknown }
  expect(usage).toMatchObject({ output_tokens_details: { reasoning_tokens: 7 } })
})

test.each([
  { msg: 'the words' },
  { code: 5, msg: 'the words' },
  { base_resp: { status_msg: 'the words' } },
])('the words of a refusal like %j reach the client', async (body) => {
  const { chat, upstream } = await testGateway()
  upstream.next(json(body, { status: 400 }))
  const response = await chat({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
  expect(await response.text()).toContain('refused the request with status 400: the words')
})
