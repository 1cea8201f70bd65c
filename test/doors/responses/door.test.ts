import { describe, expect, test } from 'vitest'
import { chunk, completion, done, hello, role, stop, usageChunk } from '../../support/answers.ts'
import { readError } from '../../support/gateway.ts'
import { json, stream } from '../../support/scripted-upstream.ts'
import { finalResponse, responsesGateway, withoutIds } from './support.ts'

const weather = { type: 'function', name: 'weather', parameters: { type: 'object' } }

const call = (index: number, id: string, name: string, text: string) => ({
  tool_calls: [{ index, id, type: 'function', function: { name, arguments: text } }],
})

describe('POST /v1/responses', () => {
  test('a text reaches the upstream as a chat request, and the answer is a response', async () => {
    const { upstream, ask } = await responsesGateway()
    upstream.next(json(completion('Hi')))
    const response = await ask({ input: 'Hello', instructions: 'Be brief.' })
    expect(upstream.requests[0]?.url).toBe('https://vendor.test/v1/chat/completions')
    expect(upstream.body()).toEqual({
      model: 'upstream-m',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
    })
    expect(response).toMatchObject({
      object: 'response',
      status: 'completed',
      model: 'm',
      store: false,
      instructions: 'Be brief.',
      output: [
        {
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }],
        },
      ],
      usage: { input_tokens: 9, output_tokens: 2, total_tokens: 11 },
    })
    expect(response.id).toMatch(/^resp_\w+$/)
  })

  test('function tools, calls and their results are translated', async () => {
    const { upstream, ask } = await responsesGateway()
    const message = { role: 'assistant', content: null, ...call(0, 'call_2', 'weather', '{}') }
    upstream.next(json(completion('', { choices: [{ index: 0, message, finish_reason: 'stop' }] })))
    const response = await ask({
      tools: [weather],
      tool_choice: { type: 'function', name: 'weather' },
      parallel_tool_calls: false,
      input: [
        { role: 'user', content: 'Lima?' },
        { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"a": 1}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'sunny' },
      ],
    })
    const past = { name: 'weather', arguments: '{"a": 1}' }
    const noParameters = { type: 'object', properties: {} }
    expect(upstream.body()).toEqual({
      model: 'upstream-m',
      messages: [
        { role: 'user', content: 'Lima?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: past }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
      ],
      tools: [{ type: 'function', function: { name: 'weather', parameters: noParameters } }],
      tool_choice: { type: 'function', function: { name: 'weather' } },
      parallel_tool_calls: false,
    })
    expect(response.output).toMatchObject([
      { type: 'function_call', call_id: 'call_2', name: 'weather', arguments: '{}' },
    ])
  })

  test('a stream has the events of the API, and ends with the response of a whole answer', async () => {
    const { upstream, ask, stream: streamEvents } = await responsesGateway()
    const words = [
      chunk({ reasoning_content: 'Let me ' }),
      chunk({ reasoning_content: 'see' }),
      hello,
      chunk(call(0, 'call_1', 'weather', '')),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }),
    ]
    upstream.next(stream([role, ...words, stop, usageChunk, done]))
    const events = await streamEvents({ input: 'Hi', tools: [weather] })
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()])
    expect(events.map(({ type }) => type.replace('response.', ''))).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_item.added',
      'function_call_arguments.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ])
    const message = {
      role: 'assistant',
      content: 'Hello',
      reasoning_content: 'Let me see',
      ...call(0, 'call_1', 'weather', '{}'),
    }
    const { usage } = completion() as { usage: object }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    upstream.next(json(completion('', { choices, usage })))
    const whole = await ask({ input: 'Hi', tools: [weather] })
    expect(withoutIds(finalResponse(events))).toEqual(withoutIds(whole))
  })

  test('errors have the codes of OpenAI and of the gateway', async () => {
    const { send } = await responsesGateway()
    const response = await send({ input: 5 })
    expect(response.status).toBe(400)
    const error = await readError(response)
    expect(error).toMatchObject({ code: 'LM-1001', gateway_code: 'LM-1001', param: 'input' })
    expect(error['message']).toContain('must be a string or an array')
  })
})

describe('paths below /v1/responses', () => {
  test.each([
    ['GET', '/v1/responses/resp_1'],
    ['DELETE', '/v1/responses/resp_1'],
    ['POST', '/v1/responses/resp_1/cancel'],
    ['GET', '/v1/responses/resp_1/input_items?limit=1'],
    ['POST', '/v1/responses/compact'],
    ['PUT', '/v1/responses/resp_1'],
  ])('%s %s is 404 and says why', async (method, path) => {
    const { get } = await responsesGateway()
    const response = await get(path, { method })
    expect(response.status).toBe(404)
    const error = await readError(response)
    expect(error).toMatchObject({ code: 'LM-1003', gateway_code: 'LM-1003' })
    expect(error['message']).toContain('only POST /v1/responses exists')
  })

  test('they are not listed', async () => {
    const { get } = await responsesGateway()
    const { routes } = (await (await get('/')).json()) as { routes: string[] }
    expect(routes.filter((route) => route.includes('/v1/responses'))).toEqual([
      'POST /v1/responses',
    ])
  })

  test('GET /v1/responses is 405', async () => {
    const { get } = await responsesGateway()
    expect((await get('/v1/responses')).status).toBe(405)
  })
})
