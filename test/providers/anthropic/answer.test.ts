import { describe, expect, test } from 'vitest'
import { outcomeOf } from '../../support/chunks.ts'
import { errorOf } from '../../support/gateway.ts'
import { json, whole } from '../../support/scripted-upstream.ts'
import { anthropicGateway, asking, message, patiently } from './support.ts'

const text = { type: 'text', text: 'Hello' }
const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } }

/** What the client makes of this answer of the vendor. */
async function answered(body: object, fields: object = {}) {
  const { chat, upstream } = await anthropicGateway()
  upstream.next(json(body))
  const response = await chat(asking(fields))
  expect(response.status).toBe(200)
  const answer: unknown = await response.json()
  return { answer, ...outcomeOf(answer) }
}

describe('the end', () => {
  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
    ['something_new', 'stop'],
    [null, 'stop'],
    [undefined, 'stop'],
  ])('%s is %s', async (stopReason, finish) => {
    const outcome = await answered(message([text], { stop_reason: stopReason }))
    expect(outcome).toMatchObject({ finish, content: 'Hello', refusal: '' })
  })

  test.each(['tool_use', 'end_turn', null])('%s with a call is tool_calls', async (stopReason) => {
    const { finish } = await answered(message([call], { stop_reason: stopReason }))
    expect(finish).toBe('tool_calls')
  })
})

describe('blocks', () => {
  test('calls without text have no content', async () => {
    expect(await answered(message([call]))).toMatchObject({ content: null })
    expect(await answered(message([{ ...text, text: '' }, call]))).toMatchObject({ content: '' })
    expect(await answered(message([]))).toMatchObject({ content: '' })
  })

  test('a call without input has an empty object', async () => {
    const { calls } = await answered(message([{ type: 'tool_use', id: 'toolu_1', name: 'f' }]))
    expect(calls).toEqual([
      { id: 'toolu_1', type: 'function', function: { name: 'f', arguments: '{}' } },
    ])
  })

  test('what runs at the vendor, and what nobody knows, is not shown', async () => {
    const outcome = await answered(
      message([
        { type: 'server_tool_use', id: 's1', name: 'web_search', input: { q: 'x' } },
        { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
        { type: 'hologram', text: 'not shown' },
        { type: 'hologram', text: { x: 1 }, id: 5 },
        text,
      ]),
    )
    expect(outcome).toMatchObject({ content: 'Hello', calls: [], finish: 'stop' })
  })

  test('an answer without an id gets one', async () => {
    const { answer } = await answered(message([text], { id: undefined }))
    expect(answer).toHaveProperty('id', expect.stringMatching(/^chatcmpl-[0-9a-f]{32}$/))
  })
})

describe('thinking', () => {
  const blocks = [
    { type: 'thinking', thinking: 'One. ', signature: 'c2ln' },
    { type: 'redacted_thinking', data: 'ZGF0YQ' },
    { type: 'thinking', thinking: 'Two.', signature: 'bmFs' },
  ]

  test('its text is joined; what was hidden stays hidden; its blocks go along to come back', async () => {
    const { message: shown } = await answered(message([...blocks, text]))
    expect(shown).toEqual({
      role: 'assistant',
      content: 'Hello',
      reasoning_content: 'One. Two.',
      thinking_blocks: blocks,
    })
  })

  test('the next request brings the signed blocks back', async () => {
    const asked = { reasoning_effort: 'low' }
    const { message: shown } = await answered(message([...blocks, text, call]), asked)
    expect(shown).toMatchObject({ thinking_blocks: blocks })

    const { chat, upstream } = await anthropicGateway()
    upstream.next(json(message([text])))
    const result = { role: 'tool', tool_call_id: 'toolu_1', content: 'x' }
    await chat(asking({ ...asked, messages: [{ role: 'user', content: 'Hi' }, shown, result] }))
    expect(upstream.body()).toMatchObject({
      thinking: { type: 'enabled' },
      messages: [
        { role: 'user' },
        { role: 'assistant', content: [...blocks, text, call] },
        { role: 'user' },
      ],
    })
  })

  test('thinking whose text is kept back is not shown', async () => {
    const silent = { type: 'thinking', thinking: '', signature: 'c2ln' }
    const { message: shown } = await answered(message([silent, text]))
    expect(shown).not.toHaveProperty('reasoning_content')
  })
})

describe('usage', () => {
  const counted = async (usage: unknown) => (await answered(message([text], { usage }))).usage

  test('the prompt includes what the cache has read and written', async () => {
    expect(
      await counted({
        input_tokens: 10,
        cache_creation_input_tokens: 20,
        cache_read_input_tokens: 100,
        output_tokens: 40,
        output_tokens_details: { thinking_tokens: 15 },
      }),
    ).toEqual({
      prompt_tokens: 130,
      completion_tokens: 40,
      total_tokens: 170,
      prompt_tokens_details: { cached_tokens: 100, cache_creation_tokens: 20 },
      completion_tokens_details: { reasoning_tokens: 15 },
    })
  })

  test.each([
    [{ cache_read_input_tokens: 5 }, { cached_tokens: 5 }],
    [{ cache_creation_input_tokens: 5 }, { cache_creation_tokens: 5 }],
    [
      { cache_read_input_tokens: 5, cache_creation_input_tokens: 0 },
      { cached_tokens: 5, cache_creation_tokens: 0 },
    ],
  ])('no zero is invented beside %j', async (cache, details) => {
    const usage = await counted({ input_tokens: 10, output_tokens: 5, ...cache })
    expect(usage).toMatchObject({ prompt_tokens: 15 })
    expect(usage?.['prompt_tokens_details']).toEqual(details)
  })

  test('the runs of an answer are added up', async () => {
    const run = (input: number, output: number) => ({
      input_tokens: input,
      output_tokens: output,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 1,
    })
    const iterations = [run(60_000, 300), run(600, 20)]
    expect(await counted({ ...run(600, 20), iterations })).toEqual({
      prompt_tokens: 60_602,
      completion_tokens: 320,
      total_tokens: 60_922,
      prompt_tokens_details: { cached_tokens: 2, cache_creation_tokens: 0 },
    })
    for (const none of [[], null, 'odd']) {
      expect(await counted({ ...run(600, 20), iterations: none })).toMatchObject({
        prompt_tokens: 601,
      })
    }
  })

  test('counters that are null are 0', async () => {
    expect(
      await counted({
        input_tokens: 10,
        cache_creation_input_tokens: null,
        cache_read_input_tokens: null,
        output_tokens: 5,
        output_tokens_details: null,
      }),
    ).toEqual({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 })
  })

  test.each([
    [undefined],
    [null],
    [7],
    [{}],
    [{ output_tokens: 5 }],
    [{ input_tokens: -1, output_tokens: 5 }],
    [{ input_tokens: 1.5, output_tokens: 5 }],
    [{ input_tokens: '10', output_tokens: 5 }],
    [{ input_tokens: 10, output_tokens: 5, cache_read_input_tokens: -3 }],
    [{ input_tokens: Number.MAX_SAFE_INTEGER, output_tokens: 5 }],
    [{ input_tokens: 0, output_tokens: 0 }],
  ])('%j is estimated', async (usage) => {
    expect(await counted(usage)).toMatchObject({ estimated: true })
  })
})

describe('answers that are none', () => {
  test.each([
    ['{"id":'],
    ['[]'],
    ['{"id":"msg_1","content":"text"}'],
    ['{"id":"msg_1","content":[{"text":"no type"}]}'],
  ])('%s is tried again, then LM-3002', async (body) => {
    const gateway = await anthropicGateway()
    gateway.upstream.always(whole(body))
    const response = await patiently(gateway, gateway.chat(asking()))
    expect(response.status).toBe(502)
    expect((await errorOf(response))['code']).toBe('LM-3002')
    expect(gateway.upstream.requests).toHaveLength(3)
  })

  test.each([
    ['overloaded_error', 502, 'LM-3002', 'error', 3],
    ['rate_limit_error', 429, 'LM-3001', 'because', 3],
    ['invalid_request_error', 400, 'LM-3003', 'because', 1],
    ['authentication_error', 502, 'LM-3003', 'because', 1],
  ])('%s in a 200', async (type, status, code, reason, calls) => {
    const gateway = await anthropicGateway()
    gateway.upstream.always(json({ type: 'error', error: { type, message: 'because' } }))
    const response = await patiently(gateway, gateway.chat(asking()))
    expect(response.status).toBe(status)
    const error = await errorOf(response)
    expect(error['code']).toBe(code)
    expect(error['message']).toContain(reason)
    expect(gateway.upstream.requests).toHaveLength(calls)
  })
})

describe('refused requests', () => {
  test.each([
    [400, 'invalid_request_error', 400, 'LM-3003', 1],
    [401, 'authentication_error', 502, 'LM-3003', 1],
    [402, 'billing_error', 502, 'LM-3003', 1],
    [403, 'permission_error', 502, 'LM-3003', 1],
    [404, 'not_found_error', 404, 'LM-3003', 1],
    [409, 'conflict_error', 409, 'LM-3003', 1],
    [413, 'request_too_large', 413, 'LM-3003', 1],
    [429, 'rate_limit_error', 429, 'LM-3001', 3],
    [500, 'api_error', 502, 'LM-3003', 3],
    [504, 'timeout_error', 502, 'LM-3003', 3],
    [529, 'overloaded_error', 502, 'LM-3003', 3],
  ])('%i %s', async (upstreamStatus, type, status, code, calls) => {
    const gateway = await anthropicGateway()
    const body = { type: 'error', error: { type, message: 'because' }, request_id: 'req_1' }
    gateway.upstream.always(json(body, { status: upstreamStatus }))
    const response = await patiently(gateway, gateway.chat(asking()))
    expect(response.status).toBe(status)
    const error = await errorOf(response)
    expect(error['code']).toBe(code)
    expect(error['message']).toContain('because')
    expect(gateway.upstream.requests).toHaveLength(calls)
  })
})
