import { expect, test } from 'vitest'
import { awsEvent } from '../support/aws-event-stream.ts'
import { type TestGateway, testGateway } from '../support/gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'

/*
 * Names of tools that an upstream refuses: agents write those of MCP servers with over 64 characters, and clients of
 * Gemini write dots.
 */

const long = `mcp__${'a-very-long-server-name-'.repeat(3)}__look_up`
const dotted = '9lives.look-up:now'

interface Upstream {
  readonly kind: string
  readonly settings?: string
  /** The names that the vendor accepts. */
  readonly accepts: RegExp
  /** Lists all names of a function in a body. */
  readonly listNames: (body: string) => readonly string[]
  readonly answer: (name: string) => object
  readonly events: (name: string) => readonly (string | Uint8Array)[]
  readonly type?: string
}

const listByKey =
  (pattern: RegExp) =>
  (body: string): string[] =>
    [...body.matchAll(pattern)].flatMap(([, name = '']) =>
      [...name.matchAll(/[^",[\]]+/g)].map(String),
    )

const sse = (...events: readonly object[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`)

const upstreams: readonly Upstream[] = [
  {
    kind: 'bedrock',
    accepts: /^[a-zA-Z0-9_-]{1,64}$/,
    listNames: listByKey(/"name":"([^"]*)"/g),
    answer: (name) => ({
      output: { message: { content: [{ toolUse: { toolUseId: 't1', name, input: {} } }] } },
      stopReason: 'tool_use',
      usage: { inputTokens: 1, outputTokens: 1 },
    }),
    events: (name) => [
      awsEvent('contentBlockStart', {
        contentBlockIndex: 0,
        start: { toolUse: { toolUseId: 't1', name } },
      }),
      awsEvent('contentBlockStop', { contentBlockIndex: 0 }),
      awsEvent('messageStop', { stopReason: 'tool_use' }),
      awsEvent('metadata', { usage: { inputTokens: 1, outputTokens: 1 } }),
    ],
    type: 'application/vnd.amazon.eventstream',
  },
  {
    kind: 'cohere',
    accepts: /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/,
    listNames: listByKey(/"name":"([^"]*)"/g),
    answer: (name) => ({
      id: 'a',
      finish_reason: 'TOOL_CALL',
      message: {
        tool_calls: [{ id: 't1', type: 'function', function: { name, arguments: '{}' } }],
      },
    }),
    events: (name) =>
      sse(
        { type: 'message-start', id: 'a' },
        {
          type: 'tool-call-start',
          index: 0,
          delta: {
            message: {
              tool_calls: { id: 't1', type: 'function', function: { name, arguments: '{}' } },
            },
          },
        },
        { type: 'message-end', delta: { finish_reason: 'TOOL_CALL' } },
      ),
  },
  {
    kind: 'google',
    accepts: /^[a-zA-Z_][a-zA-Z0-9_:.-]{0,63}$/,
    listNames: listByKey(/(?:"name":|"allowedFunctionNames":\[)"([^"]*)"/g),
    answer: (name) => ({
      candidates: [
        {
          content: { parts: [{ functionCall: { id: 't1', name, args: {} } }] },
          finishReason: 'STOP',
        },
      ],
    }),
    events: (name) =>
      sse({
        candidates: [
          {
            content: { parts: [{ functionCall: { id: 't1', name, args: {} } }] },
            finishReason: 'STOP',
          },
        ],
      }),
  },
  {
    kind: 'anthropic',
    accepts: /^[a-zA-Z0-9_-]{1,128}$/,
    listNames: listByKey(/"name":"([^"]*)"/g),
    answer: (name) => ({
      id: 'm',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'tool_use', id: 't1', name, input: {} }],
      stop_reason: 'tool_use',
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
    events: (name) =>
      sse(
        { type: 'message_start', message: { id: 'm', usage: { input_tokens: 1 } } },
        {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'tool_use', id: 't1', name, input: {} },
        },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
        { type: 'message_stop' },
      ),
  },
]

const names = [long, 'x'.repeat(129), dotted, 'get it', 'plain']
const cases = upstreams.flatMap((upstream) =>
  names.flatMap((name) => [false, true].map((streams) => ({ ...upstream, name, streams }))),
)

function gatewayFor({ kind }: Upstream): Promise<TestGateway> {
  return testGateway(
    `
[[providers]]
name = "p"
kind = "${kind}"
api_key_env = "P_KEY"
strict = true
models = [{ id = "m", upstream_id = "${kind === 'bedrock' ? 'anthropic.claude-sonnet-4-5' : 'm'}", max_output_tokens = 100 }]
`,
    { env: { P_KEY: 'k' } },
  )
}

test.each(cases)('$kind gets $name in its form, stream: $streams', async (given) => {
  const { name, streams, accepts, listNames, answer, events, type, kind } = given
  const { get, upstream } = await gatewayFor(given)
  const parameters = { type: 'object', properties: {} }
  const body = {
    model: 'm',
    stream: streams,
    tools: [
      { type: 'function', function: { name, parameters } },
      { type: 'function', function: { name: 'other', parameters } },
    ],
    tool_choice: kind === 'cohere' ? 'auto' : { type: 'function', function: { name } },
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 't0', type: 'function', function: { name, arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 't0', name, content: 'ok' },
    ],
  }
  // The model calls the tool by the name that it was given.
  upstream.next((request) => {
    const [sent = ''] = listNames(new TextDecoder().decode(request.body))
    const respond = streams
      ? stream(events(sent), type ? { headers: { 'content-type': type } } : {})
      : json(answer(sent))
    return respond(request)
  })
  const response = await get('/v1/chat/completions', {
    method: 'POST',
    body: JSON.stringify(body),
  })
  expect(response.status, await response.clone().text()).toBe(200)
  const sent = listNames(JSON.stringify(upstream.body()))
  for (const each of sent) expect(each).toMatch(accepts)
  const uses = sent.filter((each) => each === sent[0])
  expect(uses.length, sent.join()).toBeGreaterThanOrEqual(kind === 'cohere' ? 2 : 3)
  expect(sent[0] === name).toBe(accepts.test(name))
  const text = await response.text()
  expect(text).toContain(JSON.stringify(name))
  if (!accepts.test(name)) expect(text).not.toContain(String(sent[0]))
})
