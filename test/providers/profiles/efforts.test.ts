import { expect, test } from 'vitest'
import { completion } from '../../support/answers.ts'
import { oneProvider, testGateway } from '../../support/gateway.ts'
import { json } from '../../support/scripted-upstream.ts'

/* The efforts of OpenAI's models, in the words that each of them takes. */

async function sendEffort(upstreamId: string, fields: object) {
  const { get, upstream } = await testGateway(oneProvider.replace('upstream-m', upstreamId))
  upstream.next(json(completion('Hi')))
  const messages = [{ role: 'user', content: 'Hi' }]
  const body = JSON.stringify({ model: 'm', max_tokens: 64, messages, ...fields })
  const response = await get('/v1/messages', { method: 'POST', body })
  expect(response.status).toBe(200)
  const { reasoning_effort: effort } = upstream.body() as { reasoning_effort?: string }
  return [effort, response.headers.get('x-gateway-dropped')]
}

test.each([
  ['gpt-5', 'minimal', 'high'],
  ['gpt-5-pro', 'high', 'high'],
  ['gpt-5-codex', 'low', 'high'],
  ['gpt-5.1-codex', 'low', 'high'],
  ['gpt-5.1-codex-max', 'low', 'xhigh'],
  ['gpt-5.1', 'low', 'high'],
  ['gpt-5.2', 'low', 'xhigh'],
  ['gpt-5.3-codex', 'low', 'xhigh'],
  ['gpt-5.4-mini', 'low', 'xhigh'],
  ['gpt-5.5-2026-04-01', 'low', 'xhigh'],
  ['gpt-5.6-sol', 'low', 'max'],
  ['gpt-6-astra', 'low', 'max'],
])('%s gets %s for minimal, and %s for max', async (upstreamId, least, most) => {
  expect(await sendEffort(upstreamId, { output_config: { effort: 'minimal' } })).toEqual([
    least,
    null,
  ])
  expect(await sendEffort(upstreamId, { output_config: { effort: 'max' } })).toEqual([most, null])
})

test.each([
  ['gpt-5.2', 'none', null],
  ['gpt-5.6-sol', 'none', null],
  ['gpt-6-astra', 'low', 'thinking'],
  ['gpt-5-pro', 'high', 'thinking'],
])('%s gets %s for no thinking', async (upstreamId, effort, dropped) => {
  expect(await sendEffort(upstreamId, { thinking: { type: 'disabled' } })).toEqual([
    effort,
    dropped,
  ])
})
