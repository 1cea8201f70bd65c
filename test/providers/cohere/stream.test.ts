import { describe, expect, test } from 'vitest'
import { type Chunk, parsePayloads, readStream } from '../../support/chunks.ts'
import { readError } from '../../support/gateway.ts'
import { LiveUpstream, stream } from '../../support/scripted-upstream.ts'
import {
  asking,
  cohereGateway,
  end,
  event,
  type Heard,
  heard,
  patiently,
  piece,
  say,
  start,
} from './support.ts'

const streamed = asking({ stream: true })

async function readAll(...events: readonly string[]): Promise<Heard> {
  const { chat, upstream } = await cohereGateway()
  upstream.next(stream(events))
  return heard(await chat(streamed))
}

function startCall(tool_calls: object | undefined, index?: number): string {
  return piece('tool-call-start', { tool_calls }, { index })
}

function addArguments(text: string, index?: number): string {
  return piece('tool-call-delta', { tool_calls: { function: { arguments: text } } }, { index })
}

function endCall(index?: number): string {
  return event('tool-call-end', { index })
}

function call(id: string, name: string, text = ''): object {
  return { id, type: 'function', function: { name, arguments: text } }
}

const think = piece('content-delta', { content: { thinking: 'Hmm.' } }, { index: 0 })
const plan = (tool_plan: string) => piece('tool-plan-delta', { tool_plan })

describe('the content of a stream', () => {
  test('a plan after thoughts begins on a new line, as in an answer that is not streamed', async () => {
    const sum = await readAll(start, think, plan('I will '), plan('look.'), end())
    expect(sum).toMatchObject({ reasoning: 'Hmm.\nI will look.', content: '' })
  })

  test('unknown events, comments and empty data are skipped', async () => {
    const strange = [
      event('debug', { prompt: 'x' }),
      event('citation-start', { delta: { message: { citations: [] } } }),
      event('invented', { delta: 'text', index: 'one' }),
      ': keep-alive\n\n',
      'event: ping\n\n',
      'data:\n\n',
      'data: {"no":"type"}\n\n',
    ]
    const sum = await readAll(...strange, start, ...strange, say('Hi'), ...strange, end())
    expect(sum).toMatchObject({ content: 'Hi', finish: 'stop', done: true, error: undefined })
  })

  test('citations become annotations with an index, by which clients merge them', async () => {
    const sources = [{ type: 'document', id: 'd1', document: { title: 'A' } }]
    const cited = (from: number, to: number) => {
      const citations = { start: from, end: to, text: 'x', sources, content_index: 0 }
      return piece('citation-start', { citations }, { index: 0 })
    }
    const { chat, upstream } = await cohereGateway()
    upstream.next(stream([start, say('Hi there'), cited(0, 2), cited(3, 8), end()]))
    const { chunks } = await readStream(await chat(streamed))
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => ({ ...delta })))
    expect(
      deltas.flatMap((delta) => ('annotations' in delta ? delta.annotations : [])),
    ).toMatchObject([
      { index: 0, type: 'url_citation', url_citation: { start_index: 0, end_index: 2 } },
      { index: 1, type: 'url_citation', url_citation: { start_index: 3, end_index: 8 } },
    ])
  })

  test('the type in the data takes precedence over the event line', async () => {
    const sum = await readAll(
      start,
      say('Hi').replace('event: content-delta', 'event: message'),
      end(),
    )
    expect(sum.content).toBe('Hi')
  })

  test('a stream without message-start gets a new id', async () => {
    const { chat, upstream } = await cohereGateway()
    upstream.next(stream([say('Hi'), end()]))
    const { chunks } = await readStream(await chat(streamed))
    expect(chunks[0]?.id).toMatch(/^chatcmpl-[0-9a-f]{32}$/)
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
  })

  test('a piece of text is forwarded immediately', async () => {
    const { chat, upstream } = await cohereGateway()
    const live = new LiveUpstream()
    upstream.next(live.responder)
    live.push(start + say('Hel'))
    const reader = (await chat(streamed)).body?.getReader()
    const decoder = new TextDecoder()
    expect(decoder.decode((await reader?.read())?.value)).toContain('"Hel"')
    live.push(say('lo'))
    expect(decoder.decode((await reader?.read())?.value)).toContain('"lo"')
    live.push(end())
    const last = decoder.decode((await reader?.read())?.value)
    expect(last).toContain('"stop"')
    expect(last.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(live.released).toBe('drain')
  })
})

describe('log probabilities', () => {
  const logprobs = { text: 'Hi', token_ids: [1, 2], logprobs: [-0.5, -0.25] }
  const chunks = [
    start,
    piece('content-delta', { content: { text: 'Hi' } }, { index: 0, logprobs }),
    end(),
  ]

  async function choicesFor(request: object): Promise<Chunk['choices']> {
    const { chat, upstream } = await cohereGateway()
    upstream.next(stream(chunks))
    const { chunks: received } = await readStream(await chat(request))
    return received.flatMap((chunk) => chunk.choices)
  }

  test('log probabilities are sent beside their text', async () => {
    const choices = await choicesFor(asking({ stream: true, logprobs: true }))
    expect(choices.find(({ delta }) => delta.content === 'Hi')).toHaveProperty('logprobs', {
      content: [{ token: 'Hi', logprob: -0.75, bytes: [72, 105], top_logprobs: [] }],
      refusal: null,
    })
  })

  test('log probabilities are left out unless the client requests them', async () => {
    expect((await choicesFor(streamed)).some((choice) => 'logprobs' in choice)).toBe(false)
  })
})

describe('tool calls', () => {
  test('calls are numbered in the order of their start, not by the index of the vendor', async () => {
    const sum = await readAll(
      start,
      startCall(call('a1', 'a'), 3),
      startCall(call('b1', 'b'), 7),
      addArguments('{"x":', 3),
      addArguments('{"y":', 7),
      addArguments('1}', 3),
      addArguments('2}', 7),
      endCall(3),
      endCall(7),
      end('TOOL_CALL'),
    )
    expect(sum).toMatchObject({
      calls: [call('a1', 'a', '{"x":1}'), call('b1', 'b', '{"y":2}')],
      finish: 'tool_calls',
    })
  })

  test('a call may lack its index, and may be a list of one', async () => {
    const sum = await readAll(
      start,
      piece('tool-call-start', { tool_calls: [call('a1', 'a')] }),
      piece('tool-call-delta', { tool_calls: [{ function: { arguments: '{"x":1}' } }] }),
      endCall(),
      end('COMPLETE'),
    )
    expect(sum.calls).toEqual([call('a1', 'a', '{"x":1}')])
    expect(sum.finish).toBe('tool_calls')
  })

  test('arguments without an index belong to the latest call', async () => {
    const sum = await readAll(
      start,
      startCall(call('a1', 'a'), 0),
      endCall(0),
      startCall(call('b1', 'b'), 1),
      addArguments('{"y":2}'),
      endCall(),
      end('TOOL_CALL'),
    )
    expect(sum.calls.map((one) => one.function.arguments)).toEqual(['{}', '{"y":2}'])
  })

  test('the start of a call may already have arguments', async () => {
    const sum = await readAll(
      start,
      startCall(call('a1', 'a', '{"x"'), 0),
      addArguments(':1}', 0),
      endCall(0),
      end('TOOL_CALL'),
    )
    expect(sum.calls).toEqual([call('a1', 'a', '{"x":1}')])
  })

  test.each([
    { pieces: [] },
    { pieces: [''] },
    { pieces: ['null'] },
    { pieces: ['nu', 'll'] },
    { pieces: ['{}'] },
    { pieces: ['{', '}'] },
  ])('the arguments $pieces become an empty object', async ({ pieces }) => {
    const parts = pieces.map((text) => addArguments(text, 0))
    const opened = [start, startCall(call('a1', 'a'), 0), ...parts]
    const ended = await readAll(...opened, endCall(0), end('TOOL_CALL'))
    expect(ended.calls).toEqual([call('a1', 'a', '{}')])
    // A call without tool-call-end ends with the message.
    expect((await readAll(...opened, end('TOOL_CALL'))).calls).toEqual(ended.calls)
  })

  test('arguments that begin like null are sent in full', async () => {
    const sum = await readAll(
      start,
      startCall(call('a1', 'a'), 0),
      addArguments('nu', 0),
      addArguments('mber', 0),
      endCall(0),
      startCall(call('b1', 'b'), 1),
      addArguments('nul', 1),
      endCall(1),
      end('TOOL_CALL'),
    )
    expect(sum.calls.map((one) => one.function.arguments)).toEqual(['number', 'nul'])
  })

  test('a call without an id gets a new one, and without a function an empty name', async () => {
    const { calls } = await readAll(start, startCall({ type: 'function' }, 0), endCall(0), end())
    expect(calls).toEqual([
      { ...call('', '', '{}'), id: expect.stringMatching(/^call_[0-9a-f]{24}$/) },
    ])
  })

  test('arguments of a call that was never started are ignored', async () => {
    const sum = await readAll(start, addArguments('{}', 0), endCall(0), say('Hi'), end())
    expect(sum).toMatchObject({ calls: [], content: 'Hi', finish: 'stop' })
  })

  test('calls beside text are streamed in order', async () => {
    const sum = await readAll(
      start,
      say('Looking.'),
      startCall(call('a1', 'a'), 0),
      endCall(0),
      end('TOOL_CALL'),
    )
    expect(sum).toMatchObject({ content: 'Looking.', calls: [{ id: 'a1' }] })
  })
})

describe('the end of a stream', () => {
  test('events after message-end are ignored', async () => {
    const sum = await readAll(start, say('Hi'), end('MAX_TOKENS'), say('!'), end('ERROR'))
    expect(sum).toMatchObject({ content: 'Hi', finish: 'length', done: true, error: undefined })
  })

  test('message-end may lack its blank line', async () => {
    const sum = await readAll(start, say('Hi'), end().trimEnd())
    expect(sum).toMatchObject({ content: 'Hi', finish: 'stop', done: true })
  })

  test('message-end may lack its delta', async () => {
    const { chat, upstream } = await cohereGateway()
    upstream.next(stream([start, say('abcdefgh'), event('message-end')]))
    const payloads = await parsePayloads(await chat(streamed))
    expect(payloads.slice(-3)).toMatchObject([
      { choices: [{ finish_reason: 'stop' }] },
      { usage: { completion_tokens: 2, estimated: true } },
      '[DONE]',
    ])
  })

  test.each([
    ['a bare [DONE]', 'data: [DONE]\n\n'],
    ['an empty body', ''],
    ['half an event', end().slice(0, -20)],
  ])('%s does not complete the stream', async (_, tail) => {
    const sum = await readAll(start, say('Hi'), tail)
    expect(sum).toMatchObject({ content: 'Hi', done: false, error: 'LM-3010' })
  })

  test.each([
    { finish_reason: 'ERROR' },
    { finish_reason: 'TIMEOUT' },
    { finish_reason: 'COMPLETE', error: 'the engine broke' },
    { error: 'the engine broke' },
  ])('a message-end with %j is a failure', async (delta) => {
    const sum = await readAll(start, say('Hi'), event('message-end', { delta }))
    expect(sum).toMatchObject({ content: 'Hi', done: false, error: 'LM-3010' })
  })

  test.each([null, ''])('a message-end with an error of %j is a success', async (error) => {
    expect(await readAll(start, say('Hi'), end('COMPLETE', { error }))).toMatchObject({
      done: true,
    })
  })
})

describe('failures before any content', () => {
  const opened = start + piece('content-start', { content: { type: 'text', text: '' } })

  test.each([
    ['a message-end with an error', event('message-end', { delta: { error: 'the engine broke' } })],
    ['no message-end', ''],
    ['an event of another shape', 'data: {"type":"content-delta","delta":[1]}\n\n'],
    ['text that is not JSON', 'data: oops\n\n'],
    ['a call that is cut off', startCall(call('a1', 'a'), 0).slice(0, -9)],
  ])('%s before any content is retried', async (_, tail) => {
    const gateway = await cohereGateway()
    gateway.upstream.next(stream([opened, tail]), stream([start, say('Hi'), end()]))
    const sum = await heard(await patiently(gateway, gateway.chat(streamed)))
    expect(sum).toMatchObject({ content: 'Hi', done: true })
    expect(gateway.upstream.requests).toHaveLength(2)
  })

  test('the client gets the message of the last failure', async () => {
    const gateway = await cohereGateway()
    const failed = event('message-end', {
      delta: { finish_reason: 'ERROR', error: 'engine 7 broke' },
    })
    gateway.upstream.always(stream([start, failed]))
    const error = await readError(await patiently(gateway, gateway.chat(streamed)))
    expect(error).toMatchObject({ code: 'LM-3010', message: expect.stringContaining('engine 7') })
  })

  test.each([
    ['a bare [DONE]', 'data: [DONE]\n\n', 'LM-3010'],
    ['half an event', say('Hi').slice(0, -9), 'LM-3010'],
    ['an event of another shape', 'data: oops\n\n', 'LM-3002'],
  ])('%s in every attempt gives the client its own code', async (_, tail, code) => {
    const gateway = await cohereGateway()
    gateway.upstream.always(stream([start, tail]))
    const error = await readError(await patiently(gateway, gateway.chat(streamed)))
    expect(error).toMatchObject({ code })
  })

  test('an answer that is not an event stream is malformed', async () => {
    const gateway = await cohereGateway()
    gateway.upstream.always(stream(['{}'], { headers: { 'content-type': 'application/json' } }))
    const response = await patiently(gateway, gateway.chat(streamed))
    expect(await readError(response)).toMatchObject({ code: 'LM-3002' })
  })
})

test('an unreadable event after content ends the stream with a terminal frame', async () => {
  const sum = await readAll(start, say('Hi'), 'data: oops\n\n', say('!'), end())
  expect(sum).toMatchObject({ content: 'Hi', done: false, error: 'LM-3010' })
})
