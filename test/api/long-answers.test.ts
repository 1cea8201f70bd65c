import { expect, test } from 'vitest'
import { oneProvider, readError, testGateway } from '../support/gateway.ts'
import { whole } from '../support/scripted-upstream.ts'

const once = '[resilience]\nretry_max_attempts = 1\n'
const asking = { model: 'm', messages: [{ role: 'user', content: 'x' }] }

const completion = (message: object) =>
  JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'upstream-m',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  })

test('an answer over server.answer_limit is a malformed one', async () => {
  const { chat, upstream } = await testGateway(
    `[server]\nanswer_limit = 1000\n${once}${oneProvider}`,
  )
  upstream.next(whole(completion({ content: 'x' })))
  expect((await chat(asking)).status).toBe(200)
  upstream.next(whole(completion({ content: 'x'.repeat(1000) })))
  const response = await chat(asking)
  expect(response.status).toBe(502)
  expect(await readError(response)).toMatchObject({
    code: 'LM-3002',
    message: 'provider p sent a malformed answer: the answer is too long',
  })
})

test.each([
  ['ASCII', 'x\n"[{:,'],
  ['other characters', 'aé€😀'],
  ['a byte order mark inside', '\ufeff'],
])('the bytes of a long answer with %s reach the client unchanged', async (_, text) => {
  const { chat, upstream } = await testGateway()
  const answer = completion({ content: text.repeat(100_000), refusal: null })
  upstream.next(whole(answer))
  const response = await chat(asking)
  expect(response.status).toBe(200)
  expect(await response.text()).toBe(answer)
})

test('a long answer that is not JSON is a malformed one', async () => {
  const { chat, upstream } = await testGateway(once + oneProvider)
  upstream.next(whole(`${completion({ content: 'x'.repeat(300_000) })}}`))
  expect((await chat(asking)).status).toBe(502)
})

test('an answer with over 200,000 values passes unless the gateway has to write it', async () => {
  const config = oneProvider.replace(
    'kind = "openai"',
    'kind = "openai"\nbase_url = "https://vendor.test/v1"',
  )
  const { chat, get, upstream } = await testGateway(once + config)
  const annotations = Array.from({ length: 201_000 }, () => ({}))
  upstream.always(whole(completion({ content: 'x', annotations })))
  expect((await chat(asking)).status).toBe(200)
  const body = JSON.stringify({ model: 'm', input: 'x' })
  const response = await get('/v1/responses', { method: 'POST', body })
  expect(response.status).toBe(502)
  const { message } = await readError(response)
  expect(message).toBe('provider p sent a malformed answer: its JSON has too many values')
})
