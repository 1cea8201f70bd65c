import { describe, expect, test } from 'vitest'
import { readError } from '../../support/gateway.ts'
import { asking, bedrockGateway, refuseFields, sendFields, sonnet } from './support.ts'

const opus48 = 'us.anthropic.claude-opus-4-8-v1:0'
const opus55 = 'us.anthropic.claude-opus-5-5-v1:0'
const haiku3 = 'anthropic.claude-3-haiku-20240307-v1:0'
const nova = 'us.amazon.nova-pro-v1:0'
const nova2 = 'us.amazon.nova-2-lite-v1:0'
const llama = 'us.meta.llama3-3-70b-instruct-v1:0'
const gptOss = 'openai.gpt-oss-120b-1:0'
const gpt = 'openai.gpt-6-v1:0'
const qwen = 'qwen.qwen3-32b-v1:0'

describe('reasoning', () => {
  const budget = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } })
  const adaptive = (effort: string) => ({
    thinking: { type: 'adaptive', display: 'summarized' },
    output_config: { effort },
  })

  test.each([
    ['Claude on a budget', sonnet, 'high', budget(4096), { maxTokens: 8192 }],
    ['adaptive Claude', opus48, 'xhigh', adaptive('xhigh'), undefined],
    ['Claude without reasoning', haiku3, 'high', undefined, undefined],
    ['Claude on a budget', sonnet, 'none', { thinking: { type: 'disabled' } }, undefined],
    ['Claude that always thinks', opus55, 'none', { output_config: { effort: 'low' } }, undefined],
    ['Nova 2', nova2, 'low', { reasoningConfig: enabled('low') }, undefined],
    ['Nova 2', nova2, 'none', { reasoningConfig: { type: 'disabled' } }, undefined],
    ['Nova', nova, 'low', undefined, undefined],
    ['gpt-oss', gptOss, 'minimal', { reasoning_effort: 'low' }, undefined],
    ['OpenAI', gpt, 'xhigh', { reasoning: { effort: 'xhigh' } }, undefined],
    ['Qwen3', qwen, 'minimal', { reasoning_config: 'low' }, undefined],
    ['Qwen3', qwen, 'max', { reasoning_config: 'high' }, undefined],
    ['another model', llama, 'low', undefined, undefined],
  ])('%s (%s) translates the effort %s', async (_, model, reasoning_effort, fields, config) => {
    const body = await sendFields(model, { reasoning_effort })
    expect(body.additionalModelRequestFields).toEqual(fields)
    expect(body.inferenceConfig).toEqual(config)
    const param = fields ? undefined : 'reasoning_effort'
    expect(await refuseFields(model, { reasoning_effort })).toBe(param)
  })

  test('the effort none is left out for Qwen3, which has no value for it', async () => {
    expect(await sendFields(qwen, { reasoning_effort: 'none' })).not.toHaveProperty(
      'additionalModelRequestFields',
    )
    expect(await refuseFields(qwen, { reasoning_effort: 'none' })).toBe(undefined)
  })

  test('a thinking budget is added to the client’s limit', async () => {
    const fields = { reasoning_effort: 'medium', max_tokens: 100 }
    expect((await sendFields(sonnet, fields)).inferenceConfig).toEqual({ maxTokens: 2148 })
  })

  test('Nova gets no limit at its highest effort', async () => {
    const fields = { reasoning_effort: 'max', max_tokens: 100 }
    expect(await sendFields(nova2, fields)).toMatchObject({
      additionalModelRequestFields: { reasoningConfig: enabled('high') },
    })
    expect((await sendFields(nova2, fields)).inferenceConfig).toBeUndefined()
    expect(await refuseFields(nova2, fields)).toBe('max_tokens')
  })

  test('sampling fields are left out while Claude thinks', async () => {
    const fields = { reasoning_effort: 'low', temperature: 0.1, top_k: 4, max_tokens: 9 }
    expect((await sendFields(sonnet, fields)).inferenceConfig).toEqual({ maxTokens: 1033 })
    expect((await sendFields(sonnet, fields)).additionalModelRequestFields).toEqual(budget(1024))
    const off = { reasoning_effort: 'none', temperature: 0.1 }
    expect((await sendFields(sonnet, off)).inferenceConfig).toEqual({ temperature: 0.1 })
  })

  test('the client’s own thinking field is sent unchanged', async () => {
    const thinking = { type: 'enabled', budget_tokens: 2000 }
    const body = await sendFields(sonnet, { thinking, max_tokens: 3000, reasoning_effort: 'max' })
    expect(body.additionalModelRequestFields).toEqual({ thinking })
    expect(body.inferenceConfig).toEqual({ maxTokens: 3000 })
    expect((await sendFields(llama, { thinking })).additionalModelRequestFields).toBeUndefined()
    const { chat } = await bedrockGateway()
    expect(await readError(await chat(asking({ thinking: true })))).toMatchObject({
      code: 'LM-1001',
      param: 'thinking',
    })
  })

  const calling = {
    role: 'assistant',
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
  }
  const conversation = (assistant: object) => ({
    messages: [
      { role: 'user', content: 'Hi' },
      assistant,
      { role: 'tool', tool_call_id: 'c', content: '1' },
    ],
    tools: [{ type: 'function', function: { name: 'f' } }],
    reasoning_effort: 'low',
  })

  test('a budget is left out where the calls come back without their thinking', async () => {
    const body = await sendFields(sonnet, conversation(calling))
    expect(body.additionalModelRequestFields).toBeUndefined()
    expect(body.inferenceConfig).toBeUndefined()
  })

  test('signed thinking goes back in front of its calls', async () => {
    const thinking_blocks = [
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      { type: 'thinking', thinking: 'unsigned' },
      { type: 'redacted_thinking', data: 'AAAA' },
    ]
    const body = await sendFields(sonnet, conversation({ ...calling, thinking_blocks }))
    expect(body.additionalModelRequestFields).toEqual(budget(1024))
    expect(body.messages).toMatchObject([
      {},
      {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'c2ln' } } },
          { reasoningContent: { redactedContent: 'AAAA' } },
          { toolUse: { toolUseId: 'c' } },
        ],
      },
      {},
    ])
    expect(
      JSON.stringify(await sendFields(nova, conversation({ ...calling, thinking_blocks }))),
    ).not.toContain('reasoningContent')
  })
})

function enabled(maxReasoningEffort: string): object {
  return { type: 'enabled', maxReasoningEffort }
}
