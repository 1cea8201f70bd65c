import { describe, expect, test } from 'vitest'
import { outcomeOf } from '../../support/chunks.ts'
import { json } from '../../support/scripted-upstream.ts'
import { anthropicGateway, asking, message } from './support.ts'

const text = { type: 'text', text: 'Hello' }
const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } }

/** Sends a request and reads the answer that the client gets for this upstream body. */
async function answered(body: object, fields: object = {}) {
  const { chat, upstream } = await anthropicGateway()
  upstream.next(json(body))
  const response = await chat(asking(fields))
  expect(response.status).toBe(200)
  const answer: unknown = await response.json()
  return { answer, ...outcomeOf(answer) }
}

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
    const outcome = await answered(message([text], { stop_reason: stopReason }))
    expect(outcome).toMatchObject({ finish, content: 'Hello', refusal: '' })
  })

  test.each(['tool_use', 'end_turn', null])(
    'stop reason %s with a call becomes tool_calls',
    async (stopReason) => {
      const { finish } = await answered(message([call], { stop_reason: stopReason }))
      expect(finish).toBe('tool_calls')
    },
  )
})
