import { describe, expect, test } from 'vitest'
import { readError } from '../../support/gateway.ts'
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
describe('the parts of an answer', () => {
  test('texts are joined into the content, and thoughts into the reasoning', async () => {
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
      provider_content: { family: 'google', content: parts },
    })
  })

  test('a draft image in the thoughts is not an image of the answer', async () => {
    const inlineData = { mimeType: 'image/png', data: 'iVBO' }
    const { choices } = await readCompletion(
      answered([{ inlineData, thought: true }, { text: 'A' }], stop),
    )
    expect(choices[0]?.message).toEqual({ role: 'assistant', content: 'A' })
  })

  test('all audio parts become one audio', async () => {
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

  test('calls are kept beside text, and calls without ids get distinct ones', async () => {
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

  test.each([[undefined], [null], [{}]])('arguments of %j become an empty object', async (args) => {
    const { choices } = await readCompletion(
      answered([{ functionCall: { id: '', name: 'f', args } }], stop),
    )
    expect(choices[0]?.message.tool_calls).toMatchObject([
      { id: expect.stringMatching(/^call_/), function: { arguments: '{}' } },
    ])
  })

  test('an image becomes a data URI', async () => {
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
    ['code that Google executed', { executableCode: { language: 'PYTHON', code: '1' } }],
  ])('%s is in provider_content only', async (_, part) => {
    const parts = [part, { text: 'A' }]
    const { choices } = await readCompletion(answered(parts, stop))
    expect(choices[0]?.message).toEqual({
      role: 'assistant',
      content: 'A',
      provider_content: { family: 'google', content: parts },
    })
  })

  test('a part without data is skipped', async () => {
    const { choices } = await readCompletion(answered([{}, { text: 'A' }], stop))
    expect(choices[0]?.message).toEqual({ role: 'assistant', content: 'A' })
  })

  test.each<[string, object]>([
    ['no content', { finishReason: 'STOP' }],
    ['no parts', { finishReason: 'STOP', content: { role: 'model' } }],
    ['parts of null', { finishReason: 'STOP', content: { parts: null } }],
  ])('%s gives an empty answer', async (_, candidate) => {
    const { choices } = await readCompletion({ candidates: [candidate] })
    expect(choices[0]?.message).toEqual({ role: 'assistant', content: '' })
  })

  test('candidates are sorted by their index', async () => {
    const candidate = (index: number, text: string) => ({ index, content: { parts: [{ text }] } })
    const { choices } = await readCompletion({ candidates: [candidate(1, 'B'), candidate(0, 'A')] })
    expect(choices.map(({ index, message }) => [index, message['content']])).toEqual([
      [0, 'A'],
      [1, 'B'],
    ])
  })

  test('an answer without an id gets a new one', async () => {
    expect((await readCompletion({ candidates: [stop] })).id).toMatch(/^chatcmpl-\w{32}$/)
  })
})
test('log probabilities without alternatives have empty top_logprobs', async () => {
  const logprobsResult = { chosenCandidates: [{ token: '世', logProbability: -1 }] }
  const { choices } = await readCompletion(answered([{ text: '世' }], { ...stop, logprobsResult }))
  expect(choices[0]?.logprobs).toEqual({
    content: [{ token: '世', logprob: -1, bytes: [228, 184, 150], top_logprobs: [] }],
    refusal: null,
  })
})
describe('malformed answers', () => {
  test.each<[string, unknown]>([
    ['nothing', {}],
    ['no candidates', { candidates: [] }],
    ['no block reason', { promptFeedback: {} }],
    ['no real block reason', { promptFeedback: { blockReason: 'BLOCK_REASON_UNSPECIFIED' } }],
    ['a list', []],
    ['candidates that are a string', { candidates: 'A' }],
    ['a part that is a string', { candidates: [{ content: { parts: ['A'] } }] }],
  ])('an answer with %s is malformed and is retried', async (_, body) => {
    const gateway = await googleGateway()
    gateway.upstream.next(json(body), json(saying('Hi')))
    const response = await patiently(gateway, gateway.chat(asking()))
    expect(response.status).toBe(200)
    expect(gateway.upstream.requests).toHaveLength(2)
  })

  test('an error object inside a 200 counts as the status that it states', async () => {
    const { chat, upstream } = await googleGateway()
    upstream.next(json({ error: { code: 400, message: 'bad field', status: 'INVALID_ARGUMENT' } }))
    const response = await chat(asking())
    expect(response.status).toBe(400)
    expect((await readError(response))['message']).toContain('bad field')
  })
})
