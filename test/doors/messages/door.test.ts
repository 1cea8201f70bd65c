import { describe, expect, test } from 'vitest'
import { done, hello, role, stop, usageChunk } from '../../support/answers.ts'
import { stream, whole } from '../../support/scripted-upstream.ts'
import {
  asking,
  chatAnswer,
  event,
  message,
  messagesGateway,
  parseEvents,
  post,
} from './support.ts'

const nativeStream = [
  event('message_start', { message: { ...message([]), stop_reason: null } }),
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hello' } }),
  event('content_block_stop', { index: 0 }),
  event('message_delta', {
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 2 },
  }),
  event('message_stop'),
]

describe('a native link', () => {
  test('gets the bytes of the client with only the model changed, and its bytes come back', async () => {
    const gateway = await messagesGateway()
    const answer = JSON.stringify(message(), null, 1)
    gateway.upstream.next(whole(answer))
    const body =
      '{ "model" : "claude", "max_tokens":64,"x":1.0, "messages":[{"role":"user","content":"Hi"}]}'
    const response = await post(gateway, body, { path: '/v1/messages?beta=true' })
    expect(gateway.upstream.text(0)).toBe(body.replace('"claude"', '"claude-sonnet-4-5"'))
    expect(gateway.upstream.requests[0]?.url).toBe(
      'https://api.anthropic.com/v1/messages?beta=true',
    )
    expect(await response.text()).toBe(answer)
    expect(response.headers.get('x-gateway-model-used')).toBe('claude')
  })

  test('a stream passes byte for byte', async () => {
    const gateway = await messagesGateway()
    gateway.upstream.next(stream([nativeStream.join('')]))
    const response = await post(gateway, asking({ model: 'claude', stream: true }))
    expect(await response.text()).toBe(nativeStream.join(''))
  })
})

describe('a translated link', () => {
  test('a text answer is a message', async () => {
    const gateway = await messagesGateway()
    gateway.upstream.next(chatAnswer())
    const response = await post(gateway, asking())
    expect(await response.json()).toEqual({
      id: expect.stringMatching(/^msg_[0-9a-f]{24}$/),
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'Hello', citations: null }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      stop_details: null,
      container: null,
      usage: {
        input_tokens: 9,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 2,
      },
    })
  })

  test('a stream is the events of a message', async () => {
    const gateway = await messagesGateway()
    gateway.upstream.next(stream([role, hello, stop, usageChunk, done]))
    const response = await post(gateway, asking({ stream: true }))
    const events = parseEvents(await response.text())
    expect(events.map(({ type }) => type)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    expect(gateway.upstream.body()).toMatchObject({ stream_options: { include_usage: true } })
  })
})
