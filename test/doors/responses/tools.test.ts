import { describe, expect, test } from 'vitest'
import { chunk, completion, done, stop } from '../../support/answers.ts'
import { readError } from '../../support/gateway.ts'
import { json, stream } from '../../support/scripted-upstream.ts'
import { chatOnly, finalResponse, responsesGateway } from './support.ts'

interface Sent {
  readonly messages: readonly Record<string, unknown>[]
  readonly tools?: readonly { readonly function: Record<string, unknown> }[]
  readonly tool_choice?: unknown
  readonly parallel_tool_calls?: unknown
}

/** An answer that calls these functions. */
function calling(...calls: readonly (readonly [name: string, text: string])[]) {
  const tool_calls = calls.map(([name, text], at) => ({
    id: `call_${at}`,
    type: 'function',
    function: { name, arguments: text },
  }))
  const message = { role: 'assistant', content: null, tool_calls }
  return json(completion('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }))
}

/** Sends a request and returns what the upstream got, and the output. */
async function ask(body: object, answer = json(completion('Hi')), config = chatOnly) {
  const { upstream, ask: send } = await responsesGateway(config)
  upstream.next(answer)
  const { output } = await send({ input: 'Hi', ...body })
  // The tests compare the members that they read.
  return { sent: upstream.body() as Sent, output }
}

const plain = { type: 'function', name: 'plain' }
const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' }
const patch = { type: 'custom', name: 'apply_patch', description: 'Edits.', format: grammar }
const group = {
  type: 'namespace',
  name: 'agents',
  description: 'Helpers.',
  tools: [{ type: 'function', name: 'close', strict: true, parameters: null }, patch],
}
const webSearch = { type: 'web_search', external_web_access: true }

const noParameters = { type: 'object', properties: {} }

describe('tools of the Responses API on a translated link', () => {
  test('namespaces and custom tools become functions, and calls come back as they were', async () => {
    const calls = calling(
      ['agents___close', '{"id":1}'],
      ['agents___apply_patch', '{"input":"a\\nb"}'],
      ['apply_patch', 'not JSON'],
    )
    const { sent, output } = await ask({ tools: [plain, group, patch] }, calls)
    expect(sent.tools?.map((tool) => tool.function)).toEqual([
      { name: 'plain', parameters: noParameters },
      { name: 'agents___close', description: 'Helpers.', parameters: noParameters },
      expect.objectContaining({ name: 'agents___apply_patch' }),
      {
        name: 'apply_patch',
        description: 'Edits.\n\nThe input must match this lark grammar:\nstart: "x"',
        parameters: expect.objectContaining({ required: ['input'] }),
      },
    ])
    expect(output).toMatchObject([
      { type: 'function_call', namespace: 'agents', name: 'close', arguments: '{"id":1}' },
      { type: 'custom_tool_call', namespace: 'agents', name: 'apply_patch', input: 'a\nb' },
      { type: 'custom_tool_call', name: 'apply_patch', input: 'not JSON' },
    ])
    expect(output[2]).not.toHaveProperty('namespace')
  })

  test('calls of a history without tools keep their names', async () => {
    const input = [
      { role: 'user', content: 'Go' },
      { type: 'function_call', call_id: 'c1', namespace: 'agents', name: 'close', arguments: '' },
      { type: 'function_call_output', call_id: 'c1', output: 'ok' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: 'x' },
      {
        type: 'custom_tool_call_output',
        call_id: 'c2',
        output: [{ type: 'input_text', text: 'y' }],
      },
    ]
    const calls = calling(['agents___close', '{}'], ['apply_patch', '{"input":"z"}'], ['n___m', ''])
    const { sent, output } = await ask(
      { input, tools: [], tool_choice: 'auto', parallel_tool_calls: true },
      calls,
    )
    expect(sent).not.toHaveProperty('tools')
    expect(sent).not.toHaveProperty('tool_choice')
    expect(sent).not.toHaveProperty('parallel_tool_calls')
    expect(sent.messages.slice(1)).toMatchObject([
      { tool_calls: [{ id: 'c1', function: { name: 'agents___close', arguments: '' } }] },
      { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      { tool_calls: [{ id: 'c2', function: { name: 'apply_patch', arguments: '{"input":"x"}' } }] },
      { role: 'tool', tool_call_id: 'c2', content: 'y' },
    ])
    expect(output).toMatchObject([
      { type: 'function_call', namespace: 'agents', name: 'close' },
      { type: 'custom_tool_call', name: 'apply_patch', input: 'z' },
      { type: 'function_call', namespace: 'n', name: 'm' },
    ])
  })

  test('additional_tools are tools of the request', async () => {
    const input = [
      { type: 'additional_tools', role: 'developer', tools: [group] },
      { role: 'user', content: 'Go' },
    ]
    const { sent } = await ask({ input })
    expect(sent.tools?.map((tool) => tool.function['name'])).toEqual([
      'agents___close',
      'agents___apply_patch',
    ])
    expect(sent.messages).toHaveLength(1)
  })

  test('a search that the client runs is a function, and brings its tools', async () => {
    const search = { type: 'tool_search', execution: 'client', description: 'Finds.' }
    const deferred = { ...plain, name: 'later', defer_loading: true }
    const { sent, output } = await ask(
      { tools: [search, { ...plain, name: 'tool_search' }, deferred] },
      calling(['tool_search____client', '{"query":"x"}']),
    )
    expect(sent.tools?.map((tool) => tool.function['name'])).toEqual([
      'tool_search____client',
      'tool_search',
    ])
    expect(output).toMatchObject([
      {
        type: 'tool_search_call',
        execution: 'client',
        call_id: 'call_0',
        arguments: { query: 'x' },
      },
    ])
    const found = { type: 'tool_search_output', call_id: 'call_0', execution: 'client' }
    const input = [
      { role: 'user', content: 'Go' },
      { ...output[0], arguments: { query: 'x', n: 1 } },
      { ...found, tools: [{ ...group, tools: [{ ...plain, defer_loading: true }] }] },
    ]
    const next = await ask({ input, tools: [search, deferred] })
    expect(next.sent.tools?.map((tool) => tool.function['name'])).toEqual([
      'tool_search____client',
      'agents___plain',
    ])
    expect(next.sent.messages.slice(1)).toMatchObject([
      { tool_calls: [{ function: { arguments: '{"query":"x","n":1}' } }] },
      { role: 'tool', tool_call_id: 'call_0', content: '{"tools":["agents___plain"]}' },
    ])
  })

  describe('the arguments of a search keep their digits', () => {
    const search = { type: 'tool_search', execution: 'client', description: 'Finds.' }
    const written = '{"limit":12345678901234567890,\n "share":1.0, "query":"a b"}'
    const kept = '"arguments":{"limit":12345678901234567890,"share":1.0,"query":"a b"}'
    const name = 'tool_search____client'
    const body = { input: 'Hi', tools: [search] }

    test('in a response, and in the stream of it from the cache', async () => {
      const cached = `[cache]\nenabled = true\n${chatOnly}cache = true\n`
      const { upstream, send } = await responsesGateway(cached)
      upstream.next(calling([name, written]))
      expect(await (await send(body)).text()).toContain(kept)
      const again = await send({ ...body, stream: true })
      expect(again.headers.get('x-gateway-cache')).toBe('hit')
      const text = await again.text()
      expect(text.split(kept)).toHaveLength(3)
      expect(upstream.requests).toHaveLength(1)
    })

    test('in a stream', async () => {
      const { upstream, send } = await responsesGateway()
      const delta = (more: object) => chunk({ tool_calls: [{ index: 0, ...more }] })
      upstream.next(
        stream([
          delta({ id: 'a', function: { name, arguments: written.slice(0, 20) } }),
          delta({ function: { arguments: written.slice(20) } }),
          stop,
          done,
        ]),
      )
      const text = await (await send({ ...body, stream: true })).text()
      expect(text.split(kept)).toHaveLength(3)
    })
  })

  test('tools that the vendor runs are dropped, and the choice with the last of them', async () => {
    const { sent } = await ask({
      tools: [webSearch],
      tool_choice: 'required',
      parallel_tool_calls: true,
    })
    expect(Object.keys(sent)).toEqual(['model', 'messages'])
  })

  test.each([
    ['tools.1', { tools: [plain, webSearch] }],
    ['tools.0.tools.1', { tools: [{ ...group, tools: [plain, webSearch] }] }],
    ['tool_choice', { tools: [plain], tool_choice: { type: 'web_search' } }],
    ['tool_choice', { tools: [plain], tool_choice: { type: 'function', name: 'other' } }],
    ['text.format', { text: { format: { type: 'grammar' } } }],
    [
      'input.0.tools.0',
      {
        input: [
          { type: 'additional_tools', tools: [webSearch] },
          { role: 'user', content: 'x' },
        ],
      },
    ],
    [
      'input.1',
      {
        input: [
          { role: 'user', content: 'x' },
          { type: 'web_search_call', id: 'ws_1' },
        ],
      },
    ],
  ])('a strict provider refuses %s', async (param, body) => {
    const { send } = await responsesGateway(
      chatOnly.replace('name = "p"', 'name = "p"\nstrict = true'),
    )
    const response = await send({ input: 'Hi', ...body })
    expect(response.status).toBe(400)
    expect(await readError(response)).toMatchObject({ code: 'LM-1001', param })
  })

  test.each([
    [{ type: 'function', name: 'close' }, 'agents___close'],
    [{ type: 'custom', name: 'apply_patch' }, 'apply_patch'],
  ])('the choice %o names a function', async (tool_choice, name) => {
    const { sent } = await ask({ tools: [plain, group, patch], tool_choice })
    expect(sent.tool_choice).toEqual({ type: 'function', function: { name } })
  })

  test('allowed_tools leaves only these tools', async () => {
    const allowed = [
      { type: 'function', name: 'plain' },
      { type: 'mcp', server_label: 'x' },
    ]
    const tool_choice = { type: 'allowed_tools', mode: 'required', tools: allowed }
    const { sent } = await ask({ tools: [plain, group], tool_choice })
    expect(sent.tools?.map((tool) => tool.function['name'])).toEqual(['plain'])
    expect(sent.tool_choice).toBe('required')
  })

  describe('the input of a custom tool', () => {
    test.each<[title: string, written: string, input: string]>([
      ['in its member', '{"input":"a\\nb"}', 'a\nb'],
      ['as a text alone', '"a\\nb"', 'a\nb'],
      ['under another name', '{"patch":"a\\nb"}', 'a\nb'],
      ['behind another member', '{"path":5,"input":"a\\nb"}', 'a\nb'],
      ['that is no JSON', '*** Begin\na', '*** Begin\na'],
      ['that is JSON of another form', '{"a":1,"b":[2]}', '{"a":1,"b":[2]}'],
      ['that is cut', '{"input":"a\\nb', 'a\nb'],
      ['that is empty', '', ''],
    ])('%s reaches the client, whole and streamed', async (_, written, input) => {
      const { output } = await ask({ tools: [patch] }, calling(['apply_patch', written]))
      const item = { type: 'custom_tool_call', name: 'apply_patch', call_id: 'call_0', input }
      expect(output).toMatchObject([item])
      const { upstream, stream: streamEvents } = await responsesGateway()
      const delta = (more: object) => chunk({ tool_calls: [{ index: 0, ...more }] })
      for (const size of [1, 3, 100]) {
        const pieces = written.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
        upstream.next(
          stream([
            delta({ id: 'call_0', function: { name: 'apply_patch', arguments: '' } }),
            ...pieces.map((piece) => delta({ function: { arguments: piece } })),
            stop,
            done,
          ]),
        )
        const events = await streamEvents({ input: 'Hi', tools: [patch] })
        expect(finalResponse(events).output).toMatchObject([item])
        const deltas = events.filter(({ type }) => type === 'response.custom_tool_call_input.delta')
        expect(deltas.map((event) => event['delta']).join('')).toBe(input)
      }
    })
  })

  test('a stream keeps parallel calls apart, and decodes the input of custom tools', async () => {
    const { upstream, stream: streamEvents } = await responsesGateway()
    const delta = (index: number, text: string, more: object = {}) =>
      chunk({ tool_calls: [{ index, function: { arguments: text }, ...more }] })
    upstream.next(
      stream([
        chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'plain', arguments: '' } }] }),
        chunk({ tool_calls: [{ index: 1, id: 'b', function: { name: 'apply_patch' } }] }),
        delta(0, '{"x"'),
        delta(1, '{"input":"1\\'),
        delta(0, ':1}'),
        delta(1, 'n2"}'),
        stop,
        done,
      ]),
    )
    const events = await streamEvents({ input: 'Hi', tools: [plain, patch] })
    const deltas = events.filter(({ type }) => type.endsWith('.delta'))
    expect(deltas.map(({ output_index, delta: text }) => [output_index, text])).toEqual([
      [0, '{"x"'],
      [1, '1'],
      [0, ':1}'],
      [1, '\n2'],
    ])
    expect(finalResponse(events).output).toMatchObject([
      { type: 'function_call', call_id: 'a', arguments: '{"x":1}' },
      { type: 'custom_tool_call', call_id: 'b', input: '1\n2' },
    ])
    expect(events.filter(({ type }) => type === 'response.output_item.done')).toMatchObject([
      { output_index: 0 },
      { output_index: 1 },
    ])
  })
})
