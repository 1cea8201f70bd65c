import { describe, expect, test } from 'vitest'
import { refused, sent, strict } from '../anthropic/support.ts'

const summarized = { type: 'adaptive', display: 'summarized' }

describe('reasoning_effort', () => {
  test.each([
    // An adaptive model takes its own levels.
    ['claude-opus-4-8', 'minimal', summarized, 'low'],
    ['claude-opus-4-8', 'low', summarized, 'low'],
    ['claude-opus-4-8', 'medium', summarized, 'medium'],
    ['claude-opus-4-8', 'high', summarized, 'high'],
    ['claude-opus-4-8', 'xhigh', summarized, 'xhigh'],
    ['claude-opus-4-8', 'max', summarized, 'max'],
    ['claude-opus-4-6', 'xhigh', summarized, 'high'],
    ['claude-opus-4-6', 'max', summarized, 'max'],
    ['claude-something-new', 'max', summarized, 'max'],
    // A model with a budget, and one with a budget and levels.
    ['claude-sonnet-4-5', 'minimal', { type: 'enabled', budget_tokens: 1024 }, undefined],
    ['claude-sonnet-4-5', 'low', { type: 'enabled', budget_tokens: 1024 }, undefined],
    ['Anthropic/Claude-Sonnet-4.5', 'low', { type: 'enabled', budget_tokens: 1024 }, undefined],
    ['claude-sonnet-4-5', 'medium', { type: 'enabled', budget_tokens: 2048 }, undefined],
    ['claude-sonnet-4-5', 'high', { type: 'enabled', budget_tokens: 4096 }, undefined],
    ['claude-sonnet-4-5', 'xhigh', { type: 'enabled', budget_tokens: 8192 }, undefined],
    ['claude-3-7-sonnet', 'max', { type: 'enabled', budget_tokens: 16384 }, undefined],
    ['claude-opus-4-5', 'low', { type: 'enabled', budget_tokens: 1024 }, 'low'],
    ['claude-opus-4-5', 'max', { type: 'enabled', budget_tokens: 16384 }, 'high'],
    // The nearest to no thinking that each model allows.
    ['claude-sonnet-5-5', 'none', { type: 'between_tools' }, undefined],
    ['claude-opus-5-5', 'none', undefined, 'low'],
    ['claude-haiku-5-5', 'none', { type: 'disabled' }, undefined],
    ['claude-fable-5-1', 'none', undefined, 'low'],
    ['claude-mythos-5', 'none', undefined, 'low'],
    ['claude-opus-5', 'none', { type: 'disabled' }, undefined],
    ['claude-sonnet-5', 'none', { type: 'disabled' }, undefined],
    ['claude-opus-4-6', 'none', { type: 'disabled' }, undefined],
    ['claude-sonnet-4', 'none', { type: 'disabled' }, undefined],
    ['claude-something-new', 'none', undefined, 'low'],
    ['claude-3-opus', 'none', undefined, undefined],
    ['kimi-k3', 'none', undefined, undefined],
  ])('%s with effort %s', async (upstreamId, effort, thinking, level) => {
    const body = await sent({ reasoning_effort: effort }, { ...strict, upstreamId })
    expect(body['thinking']).toEqual(thinking)
    expect(body['output_config']).toEqual(level === undefined ? undefined : { effort: level })
  })

  test.each(['claude-3-5-sonnet', 'claude-instant-1.2', 'qwen3-72b'])(
    '%s does not reason, so the effort is left out',
    async (upstreamId) => {
      const fields = { reasoning_effort: 'high' }
      expect(await sent(fields, { upstreamId })).not.toHaveProperty('thinking')
      expect(await refused(fields, { ...strict, upstreamId })).toMatchObject({
        code: 'LM-1001',
        param: 'reasoning_effort',
      })
    },
  )

  test('a thinking budget is added to the client’s limit', async () => {
    expect(await sent({ reasoning_effort: 'high', max_tokens: 100 })).toMatchObject({
      max_tokens: 4196,
    })
    expect(await sent({ reasoning_effort: 'high' })).toMatchObject({ max_tokens: 16384 + 4096 })
  })

  test('an older model that does not think keeps its sampling fields', async () => {
    const body = await sent({ reasoning_effort: 'none', temperature: 0.2 }, strict)
    expect(body).toMatchObject({ thinking: { type: 'disabled' }, temperature: 0.2 })
  })
})

describe('the vendor’s own thinking field', () => {
  test('it wins over the effort, and its budget is not added to the limit', async () => {
    const thinking = { type: 'enabled', budget_tokens: 3000 }
    expect(await sent({ thinking, reasoning_effort: 'low', max_tokens: 4000 })).toMatchObject({
      thinking,
      max_tokens: 4000,
    })
  })

  test('it is sent to models that are not Claude', async () => {
    const thinking = { type: 'enabled', budget_tokens: 3000 }
    expect(await sent({ thinking }, { upstreamId: 'kimi-k3' })).toMatchObject({
      thinking,
      max_tokens: 7096,
    })
  })
})

describe('thinking that the client sends back', () => {
  const blocks = [
    { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
    { type: 'redacted_thinking', data: 'ZGF0YQ' },
  ]
  const history = (more: object) => [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: 'Let me see.',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      ...more,
    },
    { role: 'tool', tool_call_id: 'c1', content: 'x' },
  ]

  test('signed blocks are in front of everything else, unchanged', async () => {
    const messages = history({
      reasoning_content: 'Hm.',
      thinking_blocks: [{ type: 'thinking', thinking: 'unsigned' }, ...blocks, 'odd'],
    })
    expect((await sent({ messages }))['messages']).toContainEqual({
      role: 'assistant',
      content: [
        ...blocks,
        { type: 'text', text: 'Let me see.' },
        { type: 'tool_use', id: 'c1', name: 'f', input: {} },
      ],
    })
  })

  test('a model thinks on its budget where the calls come back with their thinking', async () => {
    const fields = { messages: history({ thinking_blocks: blocks }), reasoning_effort: 'low' }
    expect(await sent(fields)).toHaveProperty('thinking')
  })

  test('the budget is left out where the calls come back without their thinking', async () => {
    const fields = {
      messages: history({}),
      reasoning_effort: 'low',
      max_tokens: 10,
      temperature: 0.5,
    }
    const body = await sent(fields)
    expect(body).not.toHaveProperty('thinking')
    expect(body).toMatchObject({ max_tokens: 10, temperature: 0.5 })
    expect(await refused(fields, strict)).toMatchObject({ param: 'reasoning_effort' })
  })

  test('an adaptive model thinks where the calls come back without their thinking', async () => {
    const fields = { messages: history({}), reasoning_effort: 'low' }
    expect(await sent(fields, { upstreamId: 'claude-opus-4-8' })).toMatchObject({
      thinking: summarized,
    })
  })
})
