import { describe, expect, test } from 'vitest'
import { answered, counts } from '../providers/google/support.ts'
import { completion, done, makeChunk } from '../support/answers.ts'
import { type TestGateway, testGateway } from '../support/gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'

/* What a client gets of calls and reasoning and sends back, where ids repeat or a vendor writes odd ones. */

const make = (kind: string, upstreamId = 'my-model') =>
  testGateway(`
[[providers]]
name = "p"
kind = "${kind}"
api_key_env = "P_KEY"
${kind === 'vllm' ? 'base_url = "https://p.test/v1"' : ''}
models = [{ id = "m", upstream_id = "${upstreamId}" }]
`)

type Block = Readonly<Record<string, unknown>>
type Item = Block

const tools = [{ name: 'f', input_schema: { type: 'object' } }]
const user = { role: 'user', content: 'Hi' }

async function send({ get }: TestGateway, path: string, fields: object): Promise<Response> {
  const body = JSON.stringify({ model: 'm', ...fields })
  return get(path, { method: 'POST', body })
}

const ask = (gateway: TestGateway, messages: readonly object[], more: object = {}) =>
  send(gateway, '/v1/messages', { max_tokens: 64, tools, messages, ...more })

async function readBlocks(response: Response): Promise<readonly Block[]> {
  return ((await response.json()) as { content: readonly Block[] }).content
}

const listIds = (calls: unknown) => (calls as readonly Block[]).map(({ id }) => id)

const called = (id: string, n: number) => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: `{"n":${n}}` },
})
const calling = (...calls: readonly object[]) => {
  const message = { role: 'assistant', content: null, tool_calls: calls }
  return json(completion('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }))
}

describe('calls of one answer with one id', () => {
  test('stay apart for a Messages client, with the result of each', async () => {
    const gateway = await make('vllm')
    gateway.upstream.next(calling(called('call_1', 1), called('call_1', 2)), json(completion()))
    const content = await readBlocks(await ask(gateway, [user]))
    const ids = content.map(({ id }) => id)
    expect(new Set(ids).size).toBe(2)
    const results = ids.map((id, n) => ({ type: 'tool_result', tool_use_id: id, content: `r${n}` }))
    await ask(gateway, [
      user,
      { role: 'assistant', content },
      { role: 'user', content: results.reverse() },
    ])
    const { messages } = gateway.upstream.body() as { messages: readonly Block[] }
    const [, past, ...answers] = messages
    const sent = listIds(past?.['tool_calls'])
    expect(new Set(sent).size).toBe(2)
    expect(answers).toEqual([
      { role: 'tool', tool_call_id: sent[0], content: 'r0' },
      { role: 'tool', tool_call_id: sent[1], content: 'r1' },
    ])
  })

  test('get the results of a Responses client in their order', async () => {
    const gateway = await make('vllm')
    gateway.upstream.next(json(completion()))
    const call = { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' }
    const output = (text: string): Item => ({
      type: 'function_call_output',
      call_id: 'call_1',
      output: text,
    })
    const input = [user, call, call, output('r0'), output('r1')]
    await send(gateway, '/v1/responses', { input })
    const { messages } = gateway.upstream.body() as { messages: readonly Block[] }
    expect(messages.slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'call_1', content: 'r0' },
      { role: 'tool', tool_call_id: 'call_1', content: 'r1' },
    ])
  })
})

test('the signature of a call comes back though its id is not one of the Messages API', async () => {
  const gateway = await make('google', 'gemini-3-flash-preview')
  const call = { functionCall: { id: 'f:1', name: 'f', args: {} }, thoughtSignature: 'Yw==' }
  const answer = { ...answered([call], { finishReason: 'STOP' }), usageMetadata: counts }
  gateway.upstream.always(json(answer))
  const content = await readBlocks(await ask(gateway, [user]))
  const id = content.find(({ type }) => type === 'tool_use')?.['id']
  const results = [{ type: 'tool_result', tool_use_id: id, content: 'x' }]
  await ask(gateway, [user, { role: 'assistant', content }, { role: 'user', content: results }])
  const { contents } = gateway.upstream.body() as {
    contents: readonly { parts: readonly Block[] }[]
  }
  expect(contents[1]?.parts).toMatchObject([
    { thoughtSignature: 'Yw==', functionCall: { id: 'f:1' } },
  ])
})

test('reasoning before and behind a text comes back in its order', async () => {
  const gateway = await make('vllm')
  const deltas = [
    { reasoning: 'One. ' },
    { content: 'Look:' },
    { reasoning: 'Two.' },
    { tool_calls: [{ index: 0, ...called('call_1', 1) }] },
  ]
  const chunks = deltas.map((delta) => makeChunk({ choices: [{ index: 0, delta }] }))
  const last = makeChunk({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] })
  gateway.upstream.next(stream([...chunks, last, done]), json(completion()))
  const text = await (await ask(gateway, [user], { stream: true })).text()
  const content: Record<string, unknown>[] = []
  for (const [, data] of text.matchAll(/^data: (.*)$/gm)) {
    const { index = 0, content_block: block, delta } = JSON.parse(data ?? '') as Event
    if (block) content[index] = { ...block }
    const target = content[index]
    if (!target || !delta) continue
    if (delta.thinking !== undefined) target['thinking'] = `${target['thinking']}${delta.thinking}`
    if (delta.text !== undefined) target['text'] = `${target['text']}${delta.text}`
    if (delta.signature !== undefined) target['signature'] = delta.signature
  }
  const results = [{ type: 'tool_result', tool_use_id: 'call_1', content: 'x' }]
  await ask(gateway, [user, { role: 'assistant', content }, { role: 'user', content: results }])
  const { messages } = gateway.upstream.body() as { messages: readonly Block[] }
  expect(messages[1]).toMatchObject({ content: 'Look:', reasoning: 'One. Two.' })
})

interface Event {
  readonly index?: number
  readonly content_block?: Block
  readonly delta?: {
    readonly thinking?: string
    readonly text?: string
    readonly signature?: string
  }
}
