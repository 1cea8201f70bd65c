import { expect, test } from 'vitest'
import { hello } from '../../support/answers.ts'
import { readError } from '../../support/gateway.ts'
import { json, stream } from '../../support/scripted-upstream.ts'
import { chatOnly, responsesGateway } from './support.ts'

const once = `[resilience]\nretry_max_attempts = 1\n${chatOnly}`

test.each([
  ['context_length_exceeded', { code: 'context_length_exceeded', message: 'too long' }],
  ['context_length_exceeded', { message: 'prompt is too long: 5 tokens > 4 maximum' }],
  ['context_length_exceeded', { message: 'Input is too long for requested model.' }],
  ['context_length_exceeded', { message: "This model's maximum context length is 8 tokens." }],
  ['context_length_exceeded', { message: 'The input token count (9) exceeds the maximum' }],
  ['LM-3003', { message: 'the temperature is too high' }],
])('a 400 is %s for %o', async (code, error) => {
  const { upstream, send } = await responsesGateway(once)
  upstream.next(json({ error }, { status: 400 }))
  const response = await send({ input: 'Hi' })
  expect(response.status).toBe(400)
  const gateway_code = code === 'LM-3003' ? code : 'LM-2012'
  expect(await readError(response)).toMatchObject({ code, gateway_code })
})

test('a 429 is rate_limit_exceeded, and keeps its Retry-After', async () => {
  const { upstream, send } = await responsesGateway(once)
  const headers = { 'retry-after': '40' }
  upstream.next(json({ error: { message: 'slow down' } }, { status: 429, headers }))
  const response = await send({ input: 'Hi' })
  expect(response.headers.get('retry-after')).toBe('40')
  expect(await readError(response)).toMatchObject({
    code: 'rate_limit_exceeded',
    gateway_code: 'LM-3001',
    retry_after: 40,
  })
})

test('a failure in the stream has both codes, and its items stay open', async () => {
  const { upstream, stream: streamEvents } = await responsesGateway(once)
  const error = { message: 'the maximum context length is reached', code: 400 }
  upstream.next(stream([hello, `data: ${JSON.stringify({ error })}\n\n`]))
  const events = await streamEvents({ input: 'Hi' })
  expect(events.filter(({ type }) => type.endsWith('.done'))).toEqual([])
  expect(events.at(-1)).toMatchObject({
    type: 'response.failed',
    response: {
      status: 'failed',
      error: { code: 'context_length_exceeded', gateway_code: 'LM-2012' },
      output: [{ type: 'message', status: 'incomplete' }],
    },
  })
})
