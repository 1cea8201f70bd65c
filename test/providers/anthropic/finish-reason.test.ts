import { describe, expect, test } from 'vitest'
import { message, readOutcome } from './support.ts'

const text = { type: 'text', text: 'Hello' }
const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } }

describe('the finish reason', () => {
  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
    ['something_new', 'stop'],
    [null, 'stop'],
    [undefined, 'stop'],
  ])('stop reason %s becomes finish reason %s', async (stopReason, finish) => {
    const outcome = await readOutcome(message([text], { stop_reason: stopReason }))
    expect(outcome).toMatchObject({ finish, content: 'Hello', refusal: '' })
  })

  test.each(['tool_use', 'end_turn', null])(
    'stop reason %s with a call becomes tool_calls',
    async (stopReason) => {
      const { finish } = await readOutcome(message([call], { stop_reason: stopReason }))
      expect(finish).toBe('tool_calls')
    },
  )
})
