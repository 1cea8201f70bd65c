import { describe, expect, test } from 'vitest'
import { json } from '../../support/scripted-upstream.ts'
import { answered, asking, cohereGateway, patiently, readCompletion } from './support.ts'

describe('the finish reason', () => {
  const calls = { tool_calls: [{ id: 'n1', function: { name: 'now', arguments: '{}' } }] }

  test.each([
    ['COMPLETE', {}, 'stop'],
    ['COMPLETE', calls, 'tool_calls'],
    ['STOP_SEQUENCE', {}, 'stop'],
    ['MAX_TOKENS', calls, 'length'],
    ['TOOL_CALL', calls, 'tool_calls'],
    ['ERROR_TOXIC', {}, 'content_filter'],
    ['ERROR_LIMIT', {}, 'length'],
    ['SOMETHING_NEW', {}, 'stop'],
    ['SOMETHING_NEW', calls, 'tool_calls'],
    [undefined, { content: [{ type: 'text', text: 'A' }] }, 'stop'],
  ])('%s with %j maps to %s', async (finish_reason, message, expected) => {
    const { choices } = await readCompletion(answered(message, { finish_reason }))
    expect(choices[0]?.finish_reason).toBe(expected)
  })

  test.each(['ERROR', 'TIMEOUT'])('%s is a failure that is retried', async (finish_reason) => {
    const gateway = await cohereGateway()
    const good = answered({ content: [{ type: 'text', text: 'Hi' }] })
    gateway.upstream.next(json(answered({}, { finish_reason })), json(good))
    const response = await patiently(gateway, gateway.chat(asking()))
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'Hi' } }] })
    expect(gateway.upstream.requests).toHaveLength(2)
  })
})
