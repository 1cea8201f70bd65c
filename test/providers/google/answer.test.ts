import { describe, expect, test } from 'vitest'
import { errorOf } from '../../support/gateway.ts'
import { json } from '../../support/scripted-upstream.ts'
import { answered, asking, counts, googleGateway, patiently, saying } from './support.ts'

interface Completion {
  readonly id: string
  readonly choices: readonly {
    readonly index: number
    readonly message: Record<string, unknown> & {
      readonly tool_calls?: readonly { readonly id: string }[]
    }
    readonly finish_reason: string
    readonly logprobs: unknown
  }[]
  readonly usage: Record<string, unknown>
}

/** What the client gets when this is the answer. */
async function heard(body: object): Promise<Completion> {
  const { chat, upstream } = await googleGateway()
  upstream.next(json(body))
  const response = await chat(asking())
  expect(response.status).toBe(200)
  // The fields that are looked at are checked.
  return (await response.json()) as Completion
}

const call = { functionCall: { name: 'f', args: { a: 1 } } }
const stop = { finishReason: 'STOP' }

describe('parts', () => {
  test('texts are joined, thoughts stand apart', async () => {
    const parts = [
      { text: 'Hm, ', thought: true },
      { text: 'A' },
      { text: 'yes.', thought: true },
      { text: 'B', thoughtSignature: 'YQ==' },
    ]
    const { choices } = await heard(answered(parts, stop))
    expect(choices[0]?.message).toEqual({
      role: 'assistant',
      content: 'AB',
      reasoning_content: 'Hm, yes.',
      extra_content: { google: { thought_signature: 'YQ==' } },
    })
  })

  test('a draft that the model thinks in is no image of the answer', async () => {
    const inlineData = { mimeType: 'image/png', data: 'iVBO' }
    const { choices } = await heard(answered([{ inlineData, thought: true }, { text: 'A' }], stop))
    expect(choices[0]?.message).toEqual({ role: 'assistant', content: 'A' })
  })

  test('sound is one audio, however many parts it comes in', async () => {
    const part = (data: string) => ({ inlineData: { mimeType: 'audio/L16;rate=24000', data } })
    const { choices } = await heard(answered([part('AAE='), part('AgM=')], stop))
    expect(choices[0]?.message).toEqual({
      role: 'assistant',
      content: null,
      audio: {
        id: expect.stringMatching(/^audio_\w{32}$/),
        expires_at: 1_764_000_000,
        transcript: '',
        mime_type: 'audio/L16;rate=24000',
        data: 'AAECAw==',
      },
    })
  })

  test('calls stand beside text, without ids they get different ones', async () => {
    const { choices } = await heard(answered([{ text: 'Wait.' }, call, call], stop))
    const { content, tool_calls: calls = [] } = choices[0]?.message ?? {}
    expect(content).toBe('Wait.')
    expect(calls).toEqual(
      [0, 1].map(() => ({
        id: expect.stringMatching(/^call_\w{24}$/),
        type: 'function',
        function: { name: 'f', arguments: '{"a":1}' },
      })),
    )
    expect(calls[0]?.id).not.toBe(calls[1]?.id)
  })

  test.each([[undefined], [null], [{}]])('arguments %j are an empty object', async (args) => {
    const { choices } = await heard(answered([{ functionCall: { id: '', name: 'f', args } }], stop))
    expect(choices[0]?.message.tool_calls).toMatchObject([
      { id: expect.stringMatching(/^call_/), function: { arguments: '{}' } },
    ])
  })

  test('an image is shown as a data URI', async () => {
    const inlineData = { mimeType: 'image/png', data: 'iVBO' }
    const { choices } = await heard(answered([{ text: 'See' }, { inlineData }], stop))
    expect(choices[0]?.message).toEqual({
      role: 'assistant',
      content: 'See',
      images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } }],
    })
  })

  test.each<[string, object]>([
    ['a file', { fileData: { fileUri: 'gs://b/c' } }],
    ['code that ran upstream', { executableCode: { language: 'PYTHON', code: '1' } }],
    ['nothing', {}],
  ])('%s is passed over', async (_, part) => {
    const { choices } = await heard(answered([part, { text: 'A' }], stop))
    expect(choices[0]?.message).toEqual({ role: 'assistant', content: 'A' })
  })

  test.each<[string, object]>([
    ['no content', { finishReason: 'STOP' }],
    ['no parts', { finishReason: 'STOP', content: { role: 'model' } }],
    ['parts of null', { finishReason: 'STOP', content: { parts: null } }],
  ])('%s is an empty answer', async (_, candidate) => {
    const { choices } = await heard({ candidates: [candidate] })
    expect(choices[0]?.message).toEqual({ role: 'assistant', content: '' })
  })

  test('candidates stand in their order', async () => {
    const candidate = (index: number, text: string) => ({ index, content: { parts: [{ text }] } })
    const { choices } = await heard({ candidates: [candidate(1, 'B'), candidate(0, 'A')] })
    expect(choices.map(({ index, message }) => [index, message['content']])).toEqual([
      [0, 'A'],
      [1, 'B'],
    ])
  })

  test('an answer without an id gets one', async () => {
    expect((await heard({ candidates: [stop] })).id).toMatch(/^chatcmpl-\w{32}$/)
  })
})

describe('finish reasons', () => {
  test.each([
    ['STOP', 'stop', 'tool_calls'],
    [undefined, 'stop', 'tool_calls'],
    ['FINISH_REASON_UNSPECIFIED', 'stop', 'tool_calls'],
    ['MAX_TOKENS', 'length', 'length'],
    ['CONTINUATION', 'length', 'length'],
    ['SAFETY', 'content_filter', 'content_filter'],
    ['RECITATION', 'content_filter', 'content_filter'],
    ['MODEL_ARMOR', 'content_filter', 'content_filter'],
    ['IMAGE_SAFETY', 'content_filter', 'content_filter'],
    ['NO_IMAGE', 'content_filter', 'content_filter'],
    ['OTHER', 'stop', 'tool_calls'],
    ['MALFORMED_FUNCTION_CALL', 'stop', 'tool_calls'],
    ['A_NEW_ONE', 'stop', 'tool_calls'],
  ])('%s is %s, or %s with calls', async (finishReason, alone, withCalls) => {
    const said = await heard(answered([{ text: 'A' }], { finishReason }))
    const called = await heard(answered([call], { finishReason }))
    expect(said.choices[0]?.finish_reason).toBe(alone)
    expect(called.choices[0]?.finish_reason).toBe(withCalls)
  })

  test.each([
    ['STOP', {}],
    ['MAX_TOKENS', {}],
    ['FINISH_REASON_UNSPECIFIED', {}],
    ['OTHER', { native_finish_reason: 'OTHER', native_finish_message: 'why' }],
    [
      'TOO_MANY_TOOL_CALLS',
      { native_finish_reason: 'TOO_MANY_TOOL_CALLS', native_finish_message: 'why' },
    ],
  ])('%s leaves %j of a cause that has no word', async (finishReason, cause) => {
    const { choices } = await heard(answered([call], { finishReason, finishMessage: 'why' }))
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

  test("a blocked prompt's words are the refusal, and no output", async () => {
    const { choices, usage } = await heard({
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
    'a prompt with the block reason %s was not blocked',
    async (blockReason) => {
      const { choices } = await heard({ ...saying('A'), promptFeedback: { blockReason } })
      expect(choices[0]).toMatchObject({ message: { content: 'A' }, finish_reason: 'stop' })
    },
  )
})

describe('usage', () => {
  async function usageFor(usageMetadata: unknown) {
    return (await heard({ ...saying('Hello there'), usageMetadata })).usage
  }

  test.each<[string, object, object]>([
    [
      'the output left out',
      { promptTokenCount: 7, totalTokenCount: 7 },
      { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10, estimated: true },
    ],
    [
      'no total',
      { promptTokenCount: 7, candidatesTokenCount: 2, thoughtsTokenCount: 1 },
      {
        prompt_tokens: 7,
        completion_tokens: 3,
        total_tokens: 10,
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    ],
    [
      'a total alone',
      { candidatesTokenCount: 2, totalTokenCount: 10 },
      { prompt_tokens: 8, completion_tokens: 2, total_tokens: 10 },
    ],
    [
      'thoughts among the candidates',
      {
        promptTokenCount: 10,
        candidatesTokenCount: 25,
        thoughtsTokenCount: 20,
        totalTokenCount: 35,
      },
      {
        prompt_tokens: 10,
        completion_tokens: 25,
        total_tokens: 35,
        completion_tokens_details: { reasoning_tokens: 20 },
      },
    ],
  ])('with %s', async (_, metadata, expected) => {
    expect(await usageFor(metadata)).toEqual(expected)
  })

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a word', 'many'],
    ['an empty object', {}],
    ['the kind of traffic alone', { trafficType: 'ON_DEMAND' }],
    ['zeros', { promptTokenCount: 0, totalTokenCount: 0 }],
    ['a negative count', { ...counts, promptTokenCount: -1 }],
    ['a fraction', { ...counts, candidatesTokenCount: 1.5 }],
    ['a count beyond numbers', { ...counts, totalTokenCount: 2 ** 60 }],
    ['a count in words', { ...counts, cachedContentTokenCount: 'two' }],
  ])('of %s is estimated', async (_, metadata) => {
    const usage = await usageFor(metadata)
    expect(usage).toMatchObject({ estimated: true })
    expect(usage['completion_tokens']).toBeGreaterThan(0)
  })
})

test('log probabilities without alternatives have none', async () => {
  const logprobsResult = { chosenCandidates: [{ token: '世', logProbability: -1 }] }
  const { choices } = await heard(answered([{ text: '世' }], { ...stop, logprobsResult }))
  expect(choices[0]?.logprobs).toEqual({
    content: [{ token: '世', logprob: -1, bytes: [228, 184, 150], top_logprobs: [] }],
    refusal: null,
  })
})

describe('no answer', () => {
  test.each<[string, unknown]>([
    ['nothing', {}],
    ['no candidates', { candidates: [] }],
    ['no block reason', { promptFeedback: {} }],
    ['no real block reason', { promptFeedback: { blockReason: 'BLOCK_REASON_UNSPECIFIED' } }],
    ['a list', []],
    ['candidates that are none', { candidates: 'A' }],
    ['a part that is none', { candidates: [{ content: { parts: ['A'] } }] }],
  ])('%s is tried again', async (_, body) => {
    const gateway = await googleGateway()
    gateway.upstream.next(json(body), json(saying('Hi')))
    const response = await patiently(gateway, gateway.chat(asking()))
    expect(response.status).toBe(200)
    expect(gateway.upstream.requests).toHaveLength(2)
  })

  test('an error with status 200 counts as the status it names', async () => {
    const { chat, upstream } = await googleGateway()
    upstream.next(json({ error: { code: 400, message: 'bad field', status: 'INVALID_ARGUMENT' } }))
    const response = await chat(asking())
    expect(response.status).toBe(400)
    expect((await errorOf(response))['message']).toContain('bad field')
  })
})
