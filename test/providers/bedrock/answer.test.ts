import { describe, expect, test } from 'vitest'
import { outcomeOf } from '../../support/chunks.ts'
import { errorOf } from '../../support/gateway.ts'
import { json } from '../../support/scripted-upstream.ts'
import { answered, asking, bedrockGateway, requestId, waitForAnswer } from './support.ts'

/** Reads the answer that the client gets for these upstream blocks. */
async function outcome(content: readonly object[], more: object = {}, fields: object = {}) {
  const { chat, upstream } = await bedrockGateway()
  upstream.next(json(answered(content, more)))
  return outcomeOf(await (await chat(asking(fields))).json())
}

describe('an answer', () => {
  test('the id is AWS’s request id, or an id of the gateway', async () => {
    const { chat, upstream } = await bedrockGateway()
    const answer = answered([{ text: 'Hi' }])
    upstream.next(json(answer, { headers: requestId }), json(answer))
    expect(await (await chat(asking())).json()).toMatchObject({ id: 'chatcmpl-rid-1', model: 'm' })
    const { id } = (await (await chat(asking())).json()) as { id: string }
    expect(id).toMatch(/^chatcmpl-[0-9a-f]{32}$/)
  })

  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['content_filtered', 'content_filter'],
    ['guardrail_intervened', 'content_filter'],
    ['malformed_model_output', 'stop'],
    ['malformed_tool_use', 'stop'],
    ['tomorrow', 'stop'],
    [undefined, 'stop'],
  ])('stop reason %s becomes finish reason %s', async (stopReason, finish) => {
    expect((await outcome([{ text: 'Hi' }], { stopReason })).finish).toBe(finish)
  })

  test('an answer with a call finishes with tool_calls, unless it was cut off', async () => {
    const call = { toolUse: { toolUseId: 't', name: 'f' } }
    expect(await outcome([call], { stopReason: 'tomorrow' })).toMatchObject({
      finish: 'tool_calls',
      content: null,
      calls: [{ id: 't', type: 'function', function: { name: 'f', arguments: '{}' } }],
    })
    expect((await outcome([call], { stopReason: 'max_tokens' })).finish).toBe('length')
  })

  test('texts and cited texts are joined, other blocks are left out', async () => {
    const cited = { citationsContent: { content: [{ text: 'b' }, { text: 'c' }], citations: [] } }
    const image = { image: { format: 'png', source: { bytes: 'AAAA' } } }
    const blocks = [{ text: 'a' }, cited, image, { guardContent: {} }, { text: 'd' }]
    expect((await outcome(blocks)).content).toBe('abcd')
    expect((await outcome([])).content).toBe('')
  })

  test.each([[''], [undefined]])(
    'a call with the id %j gets an id of the gateway',
    async (toolUseId) => {
      const call = { toolUse: { toolUseId, name: 'f', input: {} } }
      const { calls } = await outcome([call, call])
      for (const { id } of calls) expect(id).toMatch(/^call_[0-9a-f]{24}$/)
      expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
    },
  )

  test('thinking_blocks are sent whether or not the client asked for reasoning', async () => {
    const blocks = [
      { reasoningContent: { reasoningText: { text: 'Hm. ', signature: 'c2ln' } } },
      { reasoningContent: { redactedContent: 'AAAA' } },
      { reasoningContent: { reasoningText: { text: 'Ah.' } } },
      { text: 'Hi' },
    ]
    for (const fields of [{ reasoning_effort: 'low' }, {}]) {
      expect((await outcome(blocks, {}, fields)).message).toMatchObject({
        reasoning_content: 'Hm. Ah.',
        thinking_blocks: [
          { type: 'thinking', thinking: 'Hm. ', signature: 'c2ln' },
          { type: 'redacted_thinking', data: 'AAAA' },
        ],
      })
    }
  })

  test.each([
    [
      { inputTokens: 4, outputTokens: 2, cacheWriteInputTokens: 3 },
      { prompt_tokens: 7, total_tokens: 9 },
    ],
    [
      { inputTokens: 4, outputTokens: 2, cacheReadInputTokens: null },
      { prompt_tokens: 4, total_tokens: 6 },
    ],
    [
      { inputTokens: 4, outputTokens: 2, totalTokens: 99 },
      { prompt_tokens: 4, total_tokens: 6 },
    ],
    [
      { inputTokens: 4, outputTokens: 2, cacheReadInputTokens: 3 },
      { prompt_tokens_details: { cached_tokens: 3 } },
    ],
    [{ inputTokens: 4 }, { estimated: true }],
    [{ inputTokens: 4, outputTokens: 2, cacheReadInputTokens: -1 }, { estimated: true }],
    [{ inputTokens: 1.5, outputTokens: 2 }, { estimated: true }],
    [{ inputTokens: 2 ** 53 - 1, outputTokens: 2 }, { estimated: true }],
    [{ inputTokens: 0, outputTokens: 0 }, { estimated: true }],
    ['many', { estimated: true }],
  ])('usage %j becomes %j', async (usage, expected) => {
    expect((await outcome([{ text: 'Hi' }], { usage })).usage).toMatchObject(expected)
  })

  test.each([
    ['no output', { stopReason: 'end_turn' }],
    ['no message', { output: {} }],
    ['a call without a name', answered([{ toolUse: { toolUseId: 't' } }])],
    ['an error', { message: 'boom' }],
  ])('an answer with %s is malformed', async (_, body) => {
    const gateway = await bedrockGateway()
    gateway.upstream.always(json(body))
    const response = await waitForAnswer(gateway, gateway.chat(asking()))
    expect((await errorOf(response))['code']).toBe('LM-3002')
    expect(gateway.upstream.requests).toHaveLength(3)
  })
})
