import { describe, expect, test } from 'vitest'
import { errorOf } from '../../support/gateway.ts'
import { json } from '../../support/scripted-upstream.ts'
import {
  answered,
  asking,
  functionCallPart,
  googleGateway,
  patiently,
  readCompletion,
  saying,
} from './support.ts'

const stop = { finishReason: 'STOP' }
describe('parts', () => {
  test('texts are joined, thoughts stand apart', async () => {
    const parts = [
      { text: 'Hm, ', thought: true },
      { text: 'A' },
      { text: 'yes.', thought: true },
      { text: 'B', thoughtSignature: 'YQ==' },
    ]
    const { choices } = await readCompletion(answered(parts, stop))
    expect(choices[0]?.message).toEqual({
      role: 'assistant',
      content: 'AB',
      reasoning_content: 'Hm, yes.',
      extra_content: { google: { thought_signature: 'YQ==' } },
    })
  })

  test('a draft that the model thinks in is no image of the answer', async () => {
    const inlineData = { mimeType: 'image/png', data: 'iVBO' }
    const { choices } = await readCompletion(
      answered([{ inlineData, thought: true }, { text: 'A' }], stop),
    )
    expect(choices[0]?.message).toEqual({ role: 'assistant', content: 'A' })
  })

  test('sound is one audio, however many parts it comes in', async () => {
    const part = (data: string) => ({ inlineData: { mimeType: 'audio/L16;rate=24000', data } })
    const { choices } = await readCompletion(answered([part('AAE='), part('AgM=')], stop))
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
    const { choices } = await readCompletion(
      answered([{ text: 'Wait.' }, functionCallPart, functionCallPart], stop),
    )
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
    const { choices } = await readCompletion(
      answered([{ functionCall: { id: '', name: 'f', args } }], stop),
    )
    expect(choices[0]?.message.tool_calls).toMatchObject([
      { id: expect.stringMatching(/^call_/), function: { arguments: '{}' } },
    ])
  })

  test('an image is shown as a data URI', async () => {
    const inlineData = { mimeType: 'image/png', data: 'iVBO' }
    const { choices } = await readCompletion(answered([{ text: 'See' }, { inlineData }], stop))
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
    const { choices } = await readCompletion(answered([part, { text: 'A' }], stop))
    expect(choices[0]?.message).toEqual({ role: 'assistant', content: 'A' })
  })

  test.each<[string, object]>([
    ['no content', { finishReason: 'STOP' }],
    ['no parts', { finishReason: 'STOP', content: { role: 'model' } }],
    ['parts of null', { finishReason: 'STOP', content: { parts: null } }],
  ])('%s is an empty answer', async (_, candidate) => {
    const { choices } = await readCompletion({ candidates: [candidate] })
    expect(choices[0]?.message).toEqual({ role: 'assistant', content: '' })
  })

  test('candidates stand in their order', async () => {
    const candidate = (index: number, text: string) => ({ index, content: { parts: [{ text }] } })
    const { choices } = await readCompletion({ candidates: [candidate(1, 'B'), candidate(0, 'A')] })
    expect(choices.map(({ index, message }) => [index, message['content']])).toEqual([
      [0, 'A'],
      [1, 'B'],
    ])
  })

  test('an answer without an id gets one', async () => {
    expect((await readCompletion({ candidates: [stop] })).id).toMatch(/^chatcmpl-\w{32}$/)
  })
})
test('log probabilities without alternatives have none', async () => {
  const logprobsResult = { chosenCandidates: [{ token: '世', logProbability: -1 }] }
  const { choices } = await readCompletion(answered([{ text: '世' }], { ...stop, logprobsResult }))
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
