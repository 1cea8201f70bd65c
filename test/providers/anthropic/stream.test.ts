import { describe, expect, test } from 'vitest'
import { assemble, readStream } from '../../support/chunks.ts'
import { readError } from '../../support/gateway.ts'
import { json, LiveUpstream, stream } from '../../support/scripted-upstream.ts'
import { anthropicGateway, asking, event, waitForAnswer } from './support.ts'

const start = event('message_start', {
  message: { id: 'msg_1', content: [], usage: { input_tokens: 10, output_tokens: 1 } },
})
const delta = (index: number, fields: object) =>
  event('content_block_delta', { index, delta: fields })
const open = (index: number, block: object) =>
  event('content_block_start', { index, content_block: block })
const close = (index: number) => event('content_block_stop', { index })
const say = (text: string) => delta(0, { type: 'text_delta', text })
const over = (stopReason: string, more: object = { usage: { output_tokens: 5 } }) =>
  event('message_delta', { delta: { stop_reason: stopReason }, ...more })
const stop = event('message_stop')
const fail = (type: string) => event('error', { error: { type, message: 'because' } })

/** Sends a streaming request and reads what the client gets for these upstream events. */
async function streamed(...events: string[]) {
  const { chat, upstream } = await anthropicGateway()
  upstream.next(stream([events.join('')]))
  const read = await readStream(await chat(asking({ stream: true })))
  return { ...read, ...assemble(read.chunks) }
}

describe('the end', () => {
  test.each([
    ['end_turn', 'stop'],
    ['max_tokens', 'length'],
    ['refusal', 'content_filter'],
    ['pause_turn', 'stop'],
    ['something_new', 'stop'],
  ])('stop reason %s becomes finish reason %s', async (stopReason, finish) => {
    expect(await streamed(start, say('a'), over(stopReason), stop)).toMatchObject({
      finish,
      done: true,
    })
  })

  test('a refusal carries the vendor’s explanation', async () => {
    const details = { type: 'refusal', explanation: 'Not allowed.' }
    const end = event('message_delta', { delta: { stop_reason: 'refusal', stop_details: details } })
    expect(await streamed(start, say('a'), end, stop)).toMatchObject({
      content: 'a',
      refusal: 'Not allowed.',
      finish: 'content_filter',
    })
  })

  test('a stream that closes after the stop reason is complete', async () => {
    const outcome = await streamed(start, say('a'), over('end_turn'))
    expect(outcome).toMatchObject({ finish: 'stop', done: true, error: undefined })
    expect(outcome.usage).toMatchObject({ completion_tokens: 5 })
  })

  test('a [DONE] at the end is ignored', async () => {
    expect(await streamed(start, say('a'), over('end_turn'), 'data: [DONE]\n\n')).toMatchObject({
      finish: 'stop',
      done: true,
    })
  })

  test('a last event without its blank line is read', async () => {
    expect(await streamed(start, say('a'), over('end_turn').trimEnd())).toMatchObject({
      finish: 'stop',
      done: true,
    })
    expect(await streamed(start, say('a'), stop.trimEnd())).toMatchObject({ done: true })
  })

  test('a torn last event is ignored', async () => {
    expect(await streamed(start, say('a'), say('bcd').slice(0, -9))).toMatchObject({
      content: 'a',
      done: false,
      error: { code: 'LM-3010' },
    })
  })
})

test('a stream that breaks off inside an event before its content has ended early', async () => {
  const gateway = await anthropicGateway()
  gateway.upstream.always(stream([start, say('abc').slice(0, -9)]))
  const response = await waitForAnswer(gateway, gateway.chat(asking({ stream: true })))
  expect((await readError(response))['code']).toBe('LM-3010')
})

describe('blocks', () => {
  test('each delta is sent to the client at once', async () => {
    const { chat, upstream } = await anthropicGateway()
    const live = new LiveUpstream()
    upstream.next(live.responder)
    const pending = chat(asking({ stream: true }))
    live.push(start + say('one'))
    const reader = (await pending).body?.getReader()
    const next = async () => new TextDecoder().decode((await reader?.read())?.value)
    expect(await next()).toContain('"content":"one"')
    live.push(delta(0, { type: 'thinking_delta', thinking: 'two' }))
    expect(await next()).toContain('"reasoning_content":"two"')
    live.push(open(1, { type: 'tool_use', id: 'toolu_1', name: 'three', input: {} }))
    expect(await next()).toContain('"name":"three"')
    live.push(delta(1, { type: 'input_json_delta', partial_json: '{"four' }))
    expect(await next()).toContain('{\\"four')
    await reader?.cancel()
  })

  test('text and thinking in content_block_start are sent', async () => {
    expect(
      await streamed(
        start,
        open(0, { type: 'thinking', thinking: 'Hm.' }),
        open(1, { type: 'text', text: 'Hello' }),
        over('end_turn'),
        stop,
      ),
    ).toMatchObject({ reasoning: 'Hm.', content: 'Hello' })
  })

  test('a call is identified by its block index and numbered among the calls', async () => {
    const tool = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} })
    const { calls } = await streamed(
      start,
      say('a'),
      open(3, tool('toolu_1')),
      open(7, tool('toolu_2')),
      delta(7, { type: 'input_json_delta', partial_json: '{"b":2}' }),
      delta(3, { type: 'input_json_delta', partial_json: '{"a":' }),
      delta(3, { type: 'input_json_delta', partial_json: '1}' }),
      close(7),
      close(3),
      over('tool_use'),
      stop,
    )
    expect(calls.map(({ id, function: { arguments: text } }) => [id, text])).toEqual([
      ['toolu_1', '{"a":1}'],
      ['toolu_2', '{"b":2}'],
    ])
  })

  test.each([
    ['{}', {}],
    ['{"a":1}', { a: 1 }],
    ['{}', undefined],
  ])('a call without input deltas has %s', async (text, input) => {
    const tool = open(0, { type: 'tool_use', id: 'toolu_1', name: 'f', input })
    // Its block may lack content_block_stop.
    for (const rest of [[close(0)], []]) {
      const { calls } = await streamed(start, tool, ...rest, over('tool_use'), stop)
      expect(calls.map(({ function: { arguments: shown } }) => shown)).toEqual([text])
    }
  })

  test('the arguments in content_block_start are kept as the vendor wrote them', async () => {
    const input = '{"id": 12345678901234567890, "n": 1.0}'
    const tool = open(0, { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} })
    const given = tool.replace('"input":{}', `"input":${input}`)
    const { calls } = await streamed(start, given, close(0), over('tool_use'), stop)
    expect(calls[0]?.function.arguments).toBe(input)
  })

  test('complete blocks in message_start are sent', async () => {
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      { type: 'text', text: 'So: ' },
      { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
    ]
    const outcome = await streamed(
      event('message_start', { message: { id: 'msg_1', content } }),
      delta(3, { type: 'text_delta', text: 'look.' }),
      over('tool_use'),
      stop,
    )
    expect(outcome).toMatchObject({
      content: 'So: look.',
      reasoning: 'Hm.',
      finish: 'tool_calls',
      calls: [{ id: 'toolu_1', function: { name: 'f', arguments: '{"a":1}' } }],
    })
    expect(outcome.chunks.map(({ choices }) => choices[0]?.delta)).toContainEqual({
      thinking_blocks: [content[0]],
    })
  })

  test('a call without an id gets an id of the gateway', async () => {
    const nameless = (index: number) => open(index, { type: 'tool_use', name: 'f', input: {} })
    const { calls } = await streamed(start, nameless(0), nameless(1), over('tool_use'), stop)
    for (const { id } of calls) expect(id).toMatch(/^call_[0-9a-f]{24}$/)
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
  })

  test('a call of a vendor-run tool is not shown', async () => {
    const outcome = await streamed(
      start,
      open(0, { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '{"q":"x"}' }),
      close(0),
      open(1, { type: 'web_search_tool_result', tool_use_id: 's1', content: [] }),
      close(1),
      say('Found.'),
      over('end_turn'),
      stop,
    )
    expect(outcome).toMatchObject({ calls: [], content: 'Found.', finish: 'stop' })
  })

  test('unknown events, deltas and lines are skipped', async () => {
    const outcome = await streamed(
      ': comment\n\n',
      start,
      event('hologram', { text: 'x', message: 'x', delta: 'x', index: 'x' }),
      open(0, { type: 'hologram', text: { x: 1 }, id: 5 }),
      delta(0, { type: 'hologram_delta', text: 'x' }),
      delta(0, { type: 'citations_delta', citation: {} }),
      'retry: 5\ndata:\n\n',
      say('a'),
      over('end_turn'),
      stop,
      'data: [DONE]\n\n',
    )
    expect(outcome).toMatchObject({ content: 'a', finish: 'stop', done: true })
  })

  test('the name of the event replaces a missing type', async () => {
    const nameless = (name: string, fields: object) =>
      `event: ${name}\ndata: ${JSON.stringify(fields)}\n\n`
    const outcome = await streamed(
      nameless('content_block_delta', { delta: { type: 'text_delta', text: 'a' } }),
      nameless('message_stop', {}),
    )
    expect(outcome).toMatchObject({ content: 'a', done: true })
    expect(outcome.chunks[0]?.id).toMatch(/^chatcmpl-[0-9a-f]{32}$/)
  })
})

describe('usage', () => {
  test('a later counter replaces an earlier one, unless it is null', async () => {
    const first = event('message_start', {
      message: {
        id: 'msg_1',
        usage: { input_tokens: 130, cache_read_input_tokens: null, output_tokens: 1 },
      },
    })
    const { usage } = await streamed(
      first,
      say('a'),
      // Some compatible servers report the cache counters at the end only.
      over('end_turn', {
        usage: { input_tokens: 30, cache_read_input_tokens: 100, output_tokens: 7 },
      }),
      over('end_turn', { usage: { input_tokens: null, output_tokens: 8 } }),
      stop,
    )
    expect(usage).toEqual({
      prompt_tokens: 130,
      completion_tokens: 8,
      total_tokens: 138,
      prompt_tokens_details: { cached_tokens: 100 },
    })
  })

  test.each([
    [{ input_tokens: 1500 }, { prompt_tokens: 1500 }],
    [
      {
        input_tokens: 1500,
        cache_read_input_tokens: 1000,
        cache_creation_input_tokens: 70,
        cache_creation: { ephemeral_1h_input_tokens: 70 },
      },
      {
        prompt_tokens: 2570,
        prompt_tokens_details: { cached_tokens: 1000, cache_creation_tokens: 70 },
      },
    ],
  ])('a later counter of 0 does not undo %j', async (counted, expected) => {
    const first = event('message_start', { message: { id: 'msg_1', usage: counted } })
    const zeros = {
      input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
      cache_creation: { ephemeral_1h_input_tokens: 0 },
      output_tokens: 44,
    }
    const later = over('end_turn', { usage: zeros })
    const empty = over('end_turn', { usage: { output_tokens: 0 } })
    const { usage } = await streamed(first, say('a'), later, empty, stop)
    expect(usage).toMatchObject({ ...expected, completion_tokens: 44 })
    expect(usage).not.toHaveProperty('estimated')
  })

  test('iterations of an earlier event do not replace a later total', async () => {
    const run = { input_tokens: 5, output_tokens: 1 }
    const first = event('message_start', {
      message: { id: 'msg_1', usage: { ...run, iterations: [run] } },
    })
    const later = over('end_turn', { usage: { output_tokens: 7 } })
    const { usage } = await streamed(first, say('a'), later, stop)
    expect(usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 7 })
  })

  test('usage is estimated where the stream reports none', async () => {
    const first = event('message_start', { message: { id: 'msg_1' } })
    const { usage } = await streamed(first, say('some words'), over('end_turn', {}), stop)
    expect(usage).toMatchObject({ estimated: true })
  })
})

describe('a second message_start', () => {
  const begin = (id: string) => event('message_start', { message: { id } })
  const tool = open(1, { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} })
  const torn = delta(1, { type: 'input_json_delta', partial_json: '{"value":"Spark' })

  test('after content it ends the stream with LM-3010', async () => {
    const { error, done } = await streamed(begin('a'), tool, torn, begin('b'), tool, stop)
    expect(done).toBe(false)
    expect(error).toMatchObject({ code: 'LM-3010' })
  })

  test('before any content it fails the attempt', async () => {
    const gateway = await anthropicGateway()
    gateway.upstream.next(stream([begin('a'), begin('b')]), stream([start, say('Hi'), stop]))
    const response = await waitForAnswer(gateway, gateway.chat(asking({ stream: true })))
    expect(assemble((await readStream(response)).chunks).content).toBe('Hi')
  })

  test('with the same id it is ignored as a repetition', async () => {
    const outcome = await streamed(
      begin('a'),
      say('a'),
      begin('a'),
      say('b'),
      over('end_turn'),
      stop,
    )
    expect(outcome).toMatchObject({ content: 'ab', done: true })
  })
})

describe('failures', () => {
  test.each([
    ['overloaded_error', 502, 'LM-3010', 3],
    ['api_error', 502, 'LM-3010', 3],
    ['timeout_error', 502, 'LM-3010', 3],
    ['something_new', 502, 'LM-3010', 3],
    ['rate_limit_error', 429, 'LM-3001', 3],
    ['invalid_request_error', 400, 'LM-3003', 1],
    ['authentication_error', 502, 'LM-3003', 1],
    ['permission_error', 502, 'LM-3003', 1],
    ['billing_error', 502, 'LM-3003', 1],
    ['not_found_error', 404, 'LM-3003', 1],
    ['request_too_large', 400, 'LM-2012', 1],
  ])(
    'the error %s before any content becomes status %i with %s',
    async (type, status, code, calls) => {
      const gateway = await anthropicGateway()
      gateway.upstream.always(stream([start, fail(type)]))
      const response = await waitForAnswer(gateway, gateway.chat(asking({ stream: true })))
      expect(response.status).toBe(status)
      const error = await readError(response)
      expect(error['code']).toBe(code)
      expect(error['message']).toContain('because')
      expect(gateway.upstream.requests).toHaveLength(calls)
    },
  )

  test('an error after content ends the stream with LM-3010', async () => {
    expect(
      await streamed(start, say('a'), fail('invalid_request_error'), say('b'), stop),
    ).toMatchObject({
      content: 'a',
      done: false,
      error: { code: 'LM-3010', message: expect.stringContaining('because') },
    })
  })

  test('an event that is not JSON ends the stream', async () => {
    expect(await streamed(start, say('a'), 'data: {"type":\n\n', say('b'), stop)).toMatchObject({
      content: 'a',
      done: false,
      error: { code: 'LM-3010' },
    })
  })

  test('a JSON answer to a streaming request is malformed', async () => {
    const gateway = await anthropicGateway()
    gateway.upstream.always(json({ type: 'error', error: { type: 'api_error' } }))
    const response = await waitForAnswer(gateway, gateway.chat(asking({ stream: true })))
    expect((await readError(response))['code']).toBe('LM-3002')
  })
})
