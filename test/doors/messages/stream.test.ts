import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, test } from 'vitest'
import { chunk, done, hello, role, usageChunk } from '../../support/answers.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { LiveUpstream, stream } from '../../support/scripted-upstream.ts'
import { StreamReader } from '../../support/stream-client.ts'
import {
  asking,
  chatAnswer,
  event,
  message,
  messagesGateway,
  parseEvents,
  post,
} from './support.ts'

const call = (index: number, fields: object) => chunk({ tool_calls: [{ index, ...fields }] })
const begin = (index: number, id: string, name: string) =>
  call(index, { id, type: 'function', function: { name, arguments: '' } })
const argue = (index: number, piece: string) => call(index, { function: { arguments: piece } })

/** Reads a stream with the official SDK. */
async function accumulate(pieces: readonly string[]): Promise<Anthropic.Message> {
  const gateway = await messagesGateway()
  gateway.upstream.next(stream(pieces))
  const client = new Anthropic({
    apiKey: 'any',
    baseURL: 'http://gateway.test',
    maxRetries: 0,
    fetch: (url, init) => gateway.gateway.fetch(new Request(String(url), init as RequestInit)),
  })
  const messages = [{ role: 'user' as const, content: 'Hi' }]
  return client.messages.stream({ model: 'm', max_tokens: 64, messages }).finalMessage()
}

describe('a translated stream, as the official SDK reads it', () => {
  test('has reasoning, text and calls as blocks', async () => {
    const { content, stop_reason, usage } = await accumulate([
      role,
      chunk({ reasoning_content: 'Hm' }),
      chunk({ reasoning: 'm.' }),
      hello,
      begin(0, 'functions.f:0', 'f'),
      argue(0, '{"a":'),
      argue(0, '1}'),
      begin(1, 'b', 'g'),
      chunk({}, {}, 'stop'),
      usageChunk,
      done,
    ])
    expect(content).toEqual([
      { type: 'thinking', thinking: 'Hmm.', signature: '' },
      { type: 'text', text: 'Hello' },
      expect.objectContaining({
        type: 'tool_use',
        id: expect.stringMatching(/^[a-zA-Z0-9_-]+$/),
        name: 'f',
        input: { a: 1 },
      }),
      expect.objectContaining({ type: 'tool_use', id: 'b', name: 'g', input: {} }),
    ])
    expect(stop_reason).toBe('tool_use')
    expect(usage).toMatchObject({ input_tokens: 9, output_tokens: 2 })
  })

  test('keeps apart the arguments of calls that arrive interleaved', async () => {
    const { content } = await accumulate([
      begin(0, 'a', 'f'),
      begin(1, 'b', 'g'),
      argue(0, '{"x":"}'),
      argue(1, '{"y":'),
      argue(0, '"}'),
      argue(1, '2}'),
      chunk({}, {}, 'tool_calls'),
      done,
    ])
    expect(content).toMatchObject([
      { id: 'a', input: { x: '}' } },
      { id: 'b', input: { y: 2 } },
    ])
  })

  test('that is refused has the refusal as text and as the reason', async () => {
    const { content, stop_reason, stop_details } = await accumulate([
      chunk({ refusal: 'No, ' }),
      chunk({ refusal: 'sorry.' }),
      chunk({}, {}, 'stop'),
      done,
    ])
    expect(content).toMatchObject([{ type: 'text', text: 'No, sorry.' }])
    expect({ stop_reason, stop_details }).toMatchObject({
      stop_reason: 'refusal',
      stop_details: { explanation: 'No, sorry.' },
    })
  })
})

test('an estimate is said in message_delta only', async () => {
  const gateway = await messagesGateway()
  gateway.upstream.next(stream([role, hello, chunk({}, {}, 'length'), done]))
  const text = await (await post(gateway, asking({ stream: true }))).text()
  const events = parseEvents(text)
  expect(JSON.stringify(events[0])).not.toContain('estimated')
  expect(events.at(-2)).toMatchObject({
    delta: { stop_reason: 'max_tokens' },
    usage: { input_tokens: 8, output_tokens: 2, estimated: true },
  })
})

test('a stream that breaks off ends with an error event, without message_stop', async () => {
  const gateway = await messagesGateway()
  gateway.upstream.next(stream([role, hello]))
  const text = await (await post(gateway, asking({ stream: true }))).text()
  const events = parseEvents(text)
  expect(events.at(-1)).toMatchObject({
    type: 'error',
    error: { type: 'api_error', code: 'LM-3010' },
  })
  expect(text).not.toContain('message_stop')
})

test('a silent stream gets ping events', async () => {
  const gateway: TestGateway = await messagesGateway()
  const live = new LiveUpstream()
  gateway.upstream.next(live.responder)
  live.push(role + hello)
  const reader = new StreamReader(await post(gateway, asking({ stream: true })))
  await reader.next()
  const next = reader.next()
  await gateway.clock.advance(15_000)
  expect(await next).toBe('event: ping\ndata: {"type":"ping"}\n\n')
  await reader.leave()
})

test('usage that a native stream lacks is written into its last message_delta', async () => {
  const gateway = await messagesGateway()
  const { usage: _, ...start } = message([]) as { usage: object }
  const head = [
    event('message_start', { message: start }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hello' } }),
    event('content_block_stop', { index: 0 }),
  ].join('')
  const delta = { stop_reason: 'end_turn', stop_sequence: null }
  gateway.upstream.next(stream([head + event('message_delta', { delta }) + event('message_stop')]))
  const text = await (await post(gateway, asking({ model: 'claude', stream: true }))).text()
  expect(text.startsWith(head)).toBe(true)
  expect(parseEvents(text).slice(-2)).toMatchObject([
    { type: 'message_delta', delta, usage: { output_tokens: 2, estimated: true } },
    { type: 'message_stop' },
  ])
})

test('malformed arguments of a whole answer stay visible', async () => {
  const gateway = await messagesGateway()
  const calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"x' } }]
  gateway.upstream.next(chatAnswer({ tool_calls: calls }, { finish: 'length' }))
  expect(await (await post(gateway, asking())).json()).toMatchObject({
    content: [{ type: 'tool_use', input: { raw_input: '{"x' } }],
    stop_reason: 'max_tokens',
  })
})
