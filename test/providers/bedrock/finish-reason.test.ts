import { expect, test } from 'vitest'
import { readOutcome } from './support.ts'

test.each([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['content_filtered', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
  ['tomorrow', 'stop'],
  [undefined, 'stop'],
])('stop reason %s becomes finish reason %s', async (stopReason, finish) => {
  expect((await readOutcome([{ text: 'Hi' }], { stopReason })).finish).toBe(finish)
})

test('an answer with a call finishes with tool_calls, unless it was cut off', async () => {
  const call = { toolUse: { toolUseId: 't', name: 'f' } }
  expect(await readOutcome([call], { stopReason: 'tomorrow' })).toMatchObject({
    finish: 'tool_calls',
    content: null,
    calls: [{ id: 't', type: 'function', function: { name: 'f', arguments: '{}' } }],
  })
  expect((await readOutcome([call], { stopReason: 'max_tokens' })).finish).toBe('length')
})
