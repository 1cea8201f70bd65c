import { MessageStream } from '@anthropic-ai/sdk/lib/MessageStream'
import { describe, expect, test } from 'vitest'
import { readEvents } from '../doors/responses/support.ts'
import { type TestGateway } from '../support/gateway.ts'
import { type Responder, whole } from '../support/scripted-upstream.ts'
import { settlement } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

/*
 * Upstreams that speak the client's API and answer a streamed request as a whole: the client gets the events of
 * its API. The round trips of the vendors have the other upstreams.
 */

const env = { P_KEY: 'k' }
const vendor = (kind: string) => `
[resilience]
retry_max_attempts = 1
[[providers]]
name = "p"
kind = "${kind}"
api_key_env = "P_KEY"
models = [{ id = "m" }]
`

/** An integer that a double cannot hold, in JSON with line breaks. */
const huge = '{"id":\n 12345678901234567890}'

async function ask(
  { get, upstream }: TestGateway,
  path: string,
  answer: Responder,
): Promise<Response> {
  upstream.next(answer)
  const messages = [{ role: 'user', content: 'Hi' }]
  const body = path === '/v1/messages' ? { messages, max_tokens: 64 } : { input: 'Hi' }
  return get(path, { method: 'POST', body: JSON.stringify({ model: 'm', stream: true, ...body }) })
}

describe('a whole message', () => {
  const usage = {
    input_tokens: 7,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 2,
    output_tokens: 3,
    service_tier: 'standard',
  }
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'b3BhcXVl' },
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
      {
        type: 'text',
        text: 'Hello 🦆\n',
        citations: [{ type: 'char_location', cited_text: 'a', document_index: 0 }],
      },
      { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: [1, { b: null }] } },
      { type: 'tool_use', id: 'toolu_2', name: 'g', input: {} },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage,
  }

  test('reaches the official SDK whole', async () => {
    const gateway = await watchedGateway(vendor('anthropic'), { env })
    const response = await ask(gateway, '/v1/messages', whole(JSON.stringify(message, null, 2)))
    expect(response.headers.get('content-type')).toMatch('text/event-stream')
    const events = (await response.text()).match(/^data: .*$/gm) ?? []
    const lines = events.map((event) => `${event.slice('data: '.length)}\n`).join('')
    const body = new Response(lines).body as ReadableStream
    // Without the text of the tools' inputs, which it keeps beside them.
    const final = JSON.parse(
      JSON.stringify(await MessageStream.fromReadableStream(body as never).finalMessage()),
    )
    expect(final).toMatchObject({ ...message, usage })
    expect(settlement(gateway.log)).toMatchObject({ status: 200, tokens_in: 9, tokens_out: 3 })
  })

  test('keeps the numbers of its inputs', async () => {
    const gateway = await watchedGateway(vendor('anthropic'), { env })
    const content = `[{"type":"tool_use","id":"t","name":"f","input":${huge}}]`
    const answer = JSON.stringify({ ...message, content: [] }).replace('[]', content)
    const text = await (await ask(gateway, '/v1/messages', whole(answer))).text()
    expect(text).toContain(JSON.stringify(huge).slice(1, -1))
  })

  test('without counts or content, which says why it ended, is one too', async () => {
    const gateway = await watchedGateway(vendor('anthropic'), { env })
    const { usage: _, ...uncounted } = { ...message, content: [], stop_reason: 'end_turn' }
    const text = await (await ask(gateway, '/v1/messages', whole(JSON.stringify(uncounted)))).text()
    expect(text).toMatch(/message_stop"}\n\n$/)
    expect(settlement(gateway.log)).toMatchObject({ status: 200, estimated: true })
  })
})

describe('a whole response', () => {
  const output = [
    {
      id: 'rs_1',
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'Hm.' }],
      content: [{ type: 'reasoning_text', text: 'Let me think.' }],
      encrypted_content: 'b3BhcXVl',
    },
    { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search' } },
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [
        {
          type: 'output_text',
          text: 'Hello 🦆\n',
          annotations: [{ type: 'url_citation', url: 'https://a.test' }],
        },
        { type: 'refusal', refusal: 'No.' },
      ],
    },
    {
      id: 'fc_1',
      type: 'function_call',
      status: 'completed',
      call_id: 'call_1',
      name: 'f',
      arguments: '{"a":1}',
    },
    {
      id: 'ct_1',
      type: 'custom_tool_call',
      status: 'completed',
      call_id: 'call_2',
      name: 'patch',
      input: '*** Begin',
    },
  ]
  const response = {
    id: 'resp_1',
    object: 'response',
    created_at: 1_764_000_000,
    status: 'completed',
    model: 'gpt',
    output,
    usage: { input_tokens: 9, output_tokens: 2, total_tokens: 11 },
  }

  /** The texts of the deltas of each item, by their types. */
  const deltas = [
    ['response.reasoning_summary_text.delta', 'Hm.'],
    ['response.reasoning_text.delta', 'Let me think.'],
    ['response.output_text.delta', 'Hello 🦆\n'],
    ['response.refusal.delta', 'No.'],
    ['response.function_call_arguments.delta', '{"a":1}'],
    ['response.custom_tool_call_input.delta', '*** Begin'],
  ]

  test.each([
    ['completed', 'response.completed'],
    ['incomplete', 'response.incomplete'],
  ])('that is %s comes as events', async (status, last) => {
    const gateway = await watchedGateway(vendor('openai'), { env })
    const given = { ...response, status }
    const answer = whole(JSON.stringify(given, null, 2))
    const events = await readEvents(await ask(gateway, '/v1/responses', answer))
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at))
    const ofType = (type: string) => events.filter((event) => event.type === type)
    expect(events[0]).toMatchObject({
      type: 'response.created',
      response: { id: 'resp_1', status: 'in_progress', output: [] },
    })
    expect(ofType('response.output_item.added').map(({ item }) => item)).toMatchObject(
      output.map(({ id, type }) => ({ id, type })),
    )
    expect(ofType('response.output_item.done').map(({ item }) => item)).toEqual(output)
    expect(
      events.flatMap(({ type, delta }) => (type.endsWith('.delta') ? [[type, delta]] : [])),
    ).toEqual(deltas)
    expect(events.at(-1)).toMatchObject({ type: last, response: given })
    expect(settlement(gateway.log)).toMatchObject({ status: 200, tokens_in: 9, tokens_out: 2 })
  })

  test('keeps its numbers, and gets the counts that it lacks', async () => {
    const gateway = await watchedGateway(vendor('openai'), { env })
    const action = `{"id":"ws_1","type":"web_search_call","action":${huge}}`
    const { usage: _, ...uncounted } = response
    const answer = whole(JSON.stringify({ ...uncounted, output: [] }).replace('[]', `[${action}]`))
    const events = await readEvents(await ask(gateway, '/v1/responses', answer))
    expect(gateway.upstream.requests).toHaveLength(1)
    expect(events.at(-1)).toMatchObject({ response: { usage: { estimated: true } } })
    expect(settlement(gateway.log)).toMatchObject({ status: 200, estimated: true })
  })
})

describe.each([
  ['anthropic', '/v1/messages', { type: 'error', error: { type: 'api_error', message: 'broke' } }],
  ['openai', '/v1/responses', { error: { message: 'broke' } }],
  ['google', '/v1/messages', { error: { code: 500, message: 'broke' } }],
  ['bedrock', '/v1/messages', { message: 'broke' }],
  ['cohere', '/v1/messages', { message: 'broke' }],
])('an error of %s in place of a stream', (kind, path, body) => {
  test('has the words of the vendor', async () => {
    const gateway = await watchedGateway(vendor(kind), { env: { ...env, AWS_REGION: 'us-east-1' } })
    const response = await ask(gateway, path, whole(JSON.stringify(body)))
    expect(response.status).toBe(502)
    expect(await response.text()).toContain('broke')
  })
})
