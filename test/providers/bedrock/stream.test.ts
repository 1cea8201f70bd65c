import { describe, expect, test } from 'vitest'
import { awsEvent, awsException, awsMessage } from '../../support/aws-event-stream.ts'
import { assemble, readStream } from '../../support/chunks.ts'
import { readError } from '../../support/gateway.ts'
import { json, stream } from '../../support/scripted-upstream.ts'
import {
  argue,
  asking,
  bedrockGateway,
  close,
  metadata,
  openCall,
  say,
  start,
  stop,
  streamed,
  waitForAnswer,
} from './support.ts'

const streaming = asking({ stream: true })

/** Reads the stream that the client gets for these upstream messages. */
async function read(messages: readonly Uint8Array[]) {
  const { chat, upstream } = await bedrockGateway()
  upstream.next(streamed(messages))
  return readStream(await chat(streaming))
}

/** Returns how the gateway answers a stream that fails before any content, and after how many calls. */
async function failed(messages: readonly Uint8Array[]) {
  const gateway = await bedrockGateway()
  gateway.upstream.always(streamed(messages))
  const response = await waitForAnswer(gateway, gateway.chat(streaming))
  const { code, message } = await readError(response)
  const calls = gateway.upstream.requests.length
  return { status: response.status, code, message, calls }
}

test('a stream is requested from converse-stream', async () => {
  const { chat, upstream } = await bedrockGateway()
  upstream.next(streamed([start, say('Hi'), stop(), metadata]))
  await (await chat(streaming)).text()
  expect(upstream.requests[0]?.url).toMatch(/\/converse-stream$/)
  expect(upstream.requests[0]?.headers['accept']).toBe('application/vnd.amazon.eventstream')
  expect(upstream.body()).not.toHaveProperty('stream')
})

describe('calls', () => {
  test('calls are numbered among themselves, and each has arguments', async () => {
    const { chunks, done } = await read([
      start,
      say('Ok.'),
      close(0),
      openCall(1, 't1', 'f'),
      argue(1, ''),
      argue(1, '{"a":'),
      argue(1, '1}'),
      close(1),
      openCall(3, 't2', 'g'),
      close(3),
      stop('end_turn'),
      metadata,
    ])
    expect(done).toBe(true)
    expect(assemble(chunks)).toMatchObject({
      content: 'Ok.',
      finish: 'tool_calls',
      calls: [
        { id: 't1', function: { name: 'f', arguments: '{"a":1}' } },
        { id: 't2', function: { name: 'g', arguments: '{}' } },
      ],
    })
  })

  test.each([[''], [undefined]])('calls with the id %j get ids of the gateway', async (id) => {
    const { chunks } = await read([
      start,
      openCall(0, id, 'f'),
      openCall(1, id, 'g'),
      stop(),
      metadata,
    ])
    const { calls } = assemble(chunks)
    for (const call of calls) expect(call.id).toMatch(/^call_[0-9a-f]{24}$/)
    expect(new Set(calls.map((call) => call.id)).size).toBe(2)
  })

  test('the start of a call commits the stream', async () => {
    const { chunks, error } = await read([start, openCall(0, 't', 'f')])
    expect(assemble(chunks).calls).toHaveLength(1)
    expect(error).toMatchObject({ code: 'LM-3010' })
  })
})

describe('an event', () => {
  test.each([
    ['of an unknown type', awsEvent('tomorrow', { a: 1 })],
    [
      'of an unknown type that is not JSON',
      awsMessage({ ':message-type': 'event', ':event-type': 'x' }, '?'),
    ],
    ['of another sort of message', awsMessage({ ':message-type': 'tomorrow' })],
    [
      'with an unknown delta',
      awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { x: 1 } }),
    ],
    ['with an empty text', say('')],
    ['that opens no call', awsEvent('contentBlockStart', { contentBlockIndex: 0, start: {} })],
    ['that closes a text', close(0)],
    ['with arguments for no call', argue(7, '{}')],
  ])('an event %s gives no chunk', async (_, event) => {
    const plain = await read([start, say('a'), say('b'), stop(), metadata])
    expect(await read([start, event, say('a'), event, say('b'), event, stop(), metadata])).toEqual(
      plain,
    )
    // The text commits the stream.
    expect(await failed([start, event])).toMatchObject({ code: 'LM-3010', calls: 3 })
  })

  test('a citation gives a source at the end of its text', async () => {
    const web = { url: 'https://a.b/c', domain: 'a.b' }
    const citation = { sourceContent: [{ text: 'so' }], location: { web } }
    const cite = awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { citation } })
    const { chunks } = await read([
      start,
      say('Ü'),
      cite,
      cite,
      say('b'),
      close(0),
      stop(),
      metadata,
    ])
    const annotation = {
      start_index: 0,
      end_index: 2,
      url: 'https://a.b/c',
      title: 'a.b',
      text: 'so',
    }
    expect(assemble(chunks)).toMatchObject({
      content: 'Üb',
      annotations: [{ url_citation: annotation }],
    })
    expect(JSON.stringify(chunks)).toContain(
      `"provider_content":${JSON.stringify({
        family: 'bedrock',
        content: [
          { citationsContent: { content: [{ text: 'Üb' }], citations: [citation, citation] } },
        ],
      })}`,
    )
  })

  test('a call with the type of a call of the client carries no blocks', async () => {
    const toolUse = { toolUseId: 't1', name: 'f', type: 'tool_use' }
    const opened = awsEvent('contentBlockStart', { contentBlockIndex: 1, start: { toolUse } })
    const events = [say('Ok.'), opened, argue(1, '{"a":1}'), close(1), stop('tool_use'), metadata]
    const { chunks } = await read([start, ...events])
    expect(assemble(chunks)).toMatchObject({ calls: [{ id: 't1', function: { name: 'f' } }] })
    expect(JSON.stringify(chunks)).not.toContain('provider_content')
  })

  test('a tool that the service ran is no call', async () => {
    const toolUse = { toolUseId: 't', name: 'nova_grounding', type: 'server_tool_use' }
    const toolResult = { toolUseId: 't', type: 'nova_grounding_result', status: 'success' }
    const events = [
      awsEvent('contentBlockStart', { contentBlockIndex: 0, start: { toolUse } }),
      argue(0, '{"q":12345678901234567890}'),
      awsEvent('contentBlockStart', { contentBlockIndex: 1, start: { toolResult } }),
      awsEvent('contentBlockDelta', {
        contentBlockIndex: 1,
        delta: { toolResult: [{ json: {} }] },
      }),
      awsEvent('contentBlockDelta', { contentBlockIndex: 2, delta: { text: 'So' } }),
    ]
    const { chunks } = await read([start, ...events, stop('end_turn'), metadata])
    expect(assemble(chunks)).toMatchObject({ content: 'So', calls: [], finish: 'stop' })
    expect(JSON.stringify(chunks)).toContain('"content":[{"json":{}}]}},{"text":"So"}]')
  })

  test('an event that is not a ConverseStream event ends the stream with an error', async () => {
    const nonsense = awsEvent('contentBlockDelta', { delta: { text: 7 } })
    const { chunks, error, done } = await read([start, say('a'), nonsense, say('b')])
    expect(assemble(chunks).content).toBe('a')
    expect(done).toBe(false)
    expect(error).toMatchObject({ code: 'LM-3010' })
  })
})

describe('the end', () => {
  test('the stream ends after the usage, which follows the stop reason', async () => {
    const { chunks, done } = await read([start, say('a'), stop('max_tokens'), metadata, say('b')])
    expect(done).toBe(true)
    expect(chunks.at(-2)?.choices).toMatchObject([{ delta: {}, finish_reason: 'length' }])
    expect(chunks.at(-1)?.usage).toEqual({
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
    })
  })

  test('the stream ends after the stop reason if the usage came before it', async () => {
    const { chunks, done } = await read([start, metadata, say('a'), stop(), say('b')])
    expect(done).toBe(true)
    expect(assemble(chunks)).toMatchObject({
      content: 'a',
      finish: 'stop',
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    })
  })

  test('a stream may end without any content', async () => {
    const { chunks, done } = await read([start, stop(), metadata])
    expect(done).toBe(true)
    expect(assemble(chunks)).toMatchObject({ content: '', finish: 'stop' })
  })

  test.each([
    ['before the stop reason', [start, say('a')]],
    ['after a usage without a stop reason', [start, say('a'), metadata]],
    ['within a message', [start, say('a'), stop(), metadata.subarray(0, 20)]],
  ])('a body that ends %s has broken off', async (_, messages) => {
    const { done, error } = await read(messages)
    expect(done).toBe(false)
    expect(error).toMatchObject({ code: 'LM-3010' })
  })

  test('a wrong checksum ends the stream with an error after the content before it', async () => {
    const bad = say('b').slice()
    bad[bad.length - 1] = (bad.at(-1) ?? 0) ^ 1
    const { chunks, error } = await read([start, say('a'), bad])
    expect(assemble(chunks).content).toBe('a')
    expect(error).toMatchObject({ code: 'LM-3010' })
    expect(await failed([start, bad])).toMatchObject({ status: 502, code: 'LM-3010', calls: 3 })
  })
})

describe('an exception before the content', () => {
  test.each([
    ['throttlingException', 429, 'LM-3001', 3],
    ['validationException', 400, 'LM-3003', 1],
    ['modelTimeoutException', 504, 'LM-3005', 3],
    ['accessDeniedException', 502, 'LM-3003', 1],
    ['internalServerException', 502, 'LM-3010', 3],
    ['serviceUnavailableException', 502, 'LM-3010', 3],
    ['modelStreamErrorException', 502, 'LM-3010', 3],
    ['tomorrowException', 502, 'LM-3010', 3],
  ])('%s before any content becomes %i %s after %i calls', async (type, status, code, calls) => {
    const failure = await failed([start, awsException(type, { message: 'Just because.' })])
    expect(failure).toMatchObject({ status, code, calls })
    expect(failure.message).toContain('Just because.')
  })

  test('a throttled stream is retried, and the client sees only the second one', async () => {
    const gateway = await bedrockGateway()
    gateway.upstream.next(
      streamed([start, awsException('throttlingException', { message: 'later' })]),
      streamed([start, say('Hi'), stop(), metadata]),
    )
    const response = await waitForAnswer(gateway, gateway.chat(streaming))
    expect(assemble((await readStream(response)).chunks).content).toBe('Hi')
  })

  test('the message is that of the model, or the type of the exception', async () => {
    const words = awsException('modelStreamErrorException', { originalMessage: 'From the model.' })
    expect((await failed([words])).message).toContain('From the model.')
    const none = awsException('modelStreamErrorException', {})
    expect((await failed([none])).message).toContain('modelStreamErrorException')
  })
})

test.each([
  [{ ':error-code': 'InternalError', ':error-message': 'boom' }, 'boom'],
  [{ ':error-code': 'InternalError' }, 'InternalError'],
])('an error of the transport with %j is retried', async (headers, text) => {
  const failure = await failed([start, awsMessage({ ':message-type': 'error', ...headers })])
  expect(failure).toMatchObject({ status: 502, code: 'LM-3010', calls: 3 })
  expect(failure.message).toContain(text)
})

test('an exception after content ends the stream with LM-3010', async () => {
  const boom = awsException('validationException', { message: 'boom' })
  const { chunks, done, error } = await read([start, say('Par'), boom, say('tial')])
  expect(assemble(chunks).content).toBe('Par')
  expect(done).toBe(false)
  expect(error).toMatchObject({ code: 'LM-3010' })
  expect(error?.['message']).toContain('boom')
})

test.each([
  ['JSON', json({ message: 'not a stream' })],
  ['a server-sent event stream', stream(['data: {}\n\n'])],
])('%s in answer to a streaming request is malformed', async (_, answer) => {
  const gateway = await bedrockGateway()
  gateway.upstream.always(answer)
  const response = await waitForAnswer(gateway, gateway.chat(streaming))
  expect((await readError(response))['code']).toBe('LM-3002')
})

test('the trace of a guardrail is on the choice, in a stream on its last chunk', async () => {
  const trace = { guardrail: { actionReason: 'No action.', inputAssessment: { g: {} } } }
  const { chat, upstream } = await bedrockGateway()
  const message = { content: [{ text: 'Hi' }] }
  upstream.next(json({ output: { message }, stopReason: 'end_turn', trace }))
  expect(await (await chat(asking())).json()).toMatchObject({ choices: [{ trace }] })
  const end = awsEvent('metadata', { usage: { inputTokens: 1, outputTokens: 1 }, trace })
  const { chunks } = await read([start, say('Hi'), stop('end_turn'), end])
  expect(JSON.stringify(chunks)).toContain(
    `"finish_reason":"stop","trace":${JSON.stringify(trace)}`,
  )
})
