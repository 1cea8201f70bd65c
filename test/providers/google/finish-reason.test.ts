import { describe, expect, test } from 'vitest'
import { answered, functionCallPart, readCompletion, saying } from './support.ts'

describe('finish reasons', () => {
  test.each<[string | undefined, string, string]>([
    ['STOP', 'stop', 'tool_calls'],
    [undefined, 'stop', 'tool_calls'],
    ['FINISH_REASON_UNSPECIFIED', 'stop', 'tool_calls'],
    ['MAX_TOKENS', 'length', 'length'],
    ['CONTINUATION', 'length', 'length'],
    ['SAFETY', 'content_filter', 'content_filter'],
    ['RECITATION', 'content_filter', 'content_filter'],
    ...[
      'LANGUAGE',
      'BLOCKLIST',
      'PROHIBITED_CONTENT',
      'SPII',
      'MODEL_ARMOR',
      'IMAGE_SAFETY',
      'IMAGE_PROHIBITED_CONTENT',
      'IMAGE_RECITATION',
    ].map((reason): [string, string, string] => [reason, 'content_filter', 'content_filter']),
    ...['OTHER', 'IMAGE_OTHER', 'NO_IMAGE', 'ESCALATION'].map(
      (reason): [string, string, string] => [reason, 'stop', 'tool_calls'],
    ),
    ['A_NEW_ONE', 'stop', 'tool_calls'],
  ])('%s maps to %s, or to %s with calls', async (finishReason, alone, withCalls) => {
    const completion = await readCompletion(answered([{ text: 'A' }], { finishReason }))
    const called = await readCompletion(answered([functionCallPart], { finishReason }))
    expect(completion.choices[0]?.finish_reason).toBe(alone)
    expect(called.choices[0]?.finish_reason).toBe(withCalls)
  })

  test.each([
    ['STOP', {}],
    ['MAX_TOKENS', {}],
    ['FINISH_REASON_UNSPECIFIED', {}],
    ['OTHER', { native_finish_reason: 'OTHER', native_finish_message: 'why' }],
    ['NO_IMAGE', { native_finish_reason: 'NO_IMAGE', native_finish_message: 'why' }],
    ['A_NEW_ONE', { native_finish_reason: 'A_NEW_ONE', native_finish_message: 'why' }],
  ])('%s without a counterpart adds the native fields %j', async (finishReason, cause) => {
    const { choices } = await readCompletion(
      answered([functionCallPart], { finishReason, finishMessage: 'why' }),
    )
    const { native_finish_reason, native_finish_message } = { ...choices[0] } as Record<
      string,
      string
    >
    expect({ native_finish_reason, native_finish_message }).toEqual({
      native_finish_reason: undefined,
      native_finish_message: undefined,
      ...cause,
    })
  })

  test('the message of a blocked prompt becomes the refusal and does not count as output', async () => {
    const { choices, usage } = await readCompletion({
      promptFeedback: { blockReason: 'SAFETY', blockReasonMessage: 'Not this.' },
      usageMetadata: { promptTokenCount: 7, totalTokenCount: 7 },
    })
    expect(choices[0]).toMatchObject({
      message: { content: null, refusal: 'Not this.' },
      finish_reason: 'content_filter',
    })
    expect(usage).toEqual({ prompt_tokens: 7, completion_tokens: 0, total_tokens: 7 })
  })

  test.each(['BLOCK_REASON_UNSPECIFIED', 'BLOCKED_REASON_UNSPECIFIED', undefined])(
    'a prompt with the block reason %s counts as not blocked',
    async (blockReason) => {
      const { choices } = await readCompletion({ ...saying('A'), promptFeedback: { blockReason } })
      expect(choices[0]).toMatchObject({ message: { content: 'A' }, finish_reason: 'stop' })
    },
  )
})
