import { describe, expect, test } from 'vitest'
import { event, message } from '../../providers/anthropic/support.ts'
import { json, stream, whole } from '../../support/scripted-upstream.ts'
import { finalResponse, type OutputItem, responsesGateway } from './support.ts'

const config = `
[[providers]]
name = "p"
kind = "anthropic"
api_key_env = "P_KEY"
[[providers.models]]
id = "m"
upstream_id = "claude-opus-4-8"
[[providers]]
name = "q"
kind = "openai"
base_url = "https://vendor.test/v1"
api_key_env = "P_KEY"
[[providers.models]]
id = "other"
`
const gateway = () => responsesGateway(config, { env: { P_KEY: 'k' } })

const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }
const text = (said: string) => ({ type: 'text', text: said })
const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } }
const search = [
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } },
  { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ url: 'https://a.b' }] },
]
const content = [text('One '), thinking, ...search, text('two'), call]

const user = { role: 'user', content: 'Hi' }
const result = { type: 'function_call_output', call_id: 'toolu_1', output: 'x' }

function eventsOf(blocks: readonly object[]): string[] {
  return [
    event('message_start', { message: { ...message([]), stop_reason: null } }),
    ...blocks.flatMap((content_block, index) => [
      event('content_block_start', { index, content_block }),
      event('content_block_stop', { index }),
    ]),
    event('message_delta', { delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } }),
    event('message_stop'),
  ]
}

/** The items of an answer with these blocks. */
async function receive(blocks: readonly object[], isStreamed: boolean) {
  const { upstream, ask, stream: read } = await gateway()
  upstream.next(isStreamed ? stream(eventsOf(blocks)) : json(message(blocks)))
  const { output } = isStreamed
    ? finalResponse(await read({ input: 'Hi' }))
    : await ask({ input: 'Hi' })
  return output
}

/** The assistant message that a vendor gets for these items. */
async function giveBack(items: readonly OutputItem[], model: string) {
  const { upstream, send } = await gateway()
  upstream.next(json({}, { status: 404 }))
  await send({ model, input: [user, ...items, result] })
  const { messages } = upstream.body() as { messages: { content: unknown }[] }
  return messages[1]
}

describe.each([
  ['a whole answer', false],
  ['a stream', true],
])('the blocks of %s', (_, isStreamed) => {
  test('go back to their vendor in encrypted_content', async () => {
    const items = await receive(content, isStreamed)
    expect(await giveBack(items, 'm')).toEqual({ role: 'assistant', content })
  })

  test('are not used if the client has edited the text', async () => {
    const items = await receive(content, isStreamed)
    const edited = JSON.parse(JSON.stringify(items).replace('One two', 'One three'))
    expect(JSON.stringify(await giveBack(edited, 'm'))).not.toContain('web_search')
  })

  test('do not go to a provider of the OpenAI format', async () => {
    const items = await receive(content, isStreamed)
    expect(await giveBack(items, 'other')).toMatchObject({ content: 'One two' })
    expect(JSON.stringify(await giveBack(items, 'other'))).not.toContain('provider_content')
  })

  test('add no item where the proofs of the thinking bring them back', async () => {
    const simple = [thinking, text('So.'), call]
    const items = await receive(simple, isStreamed)
    expect(items.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call'])
    expect(await giveBack(items, 'm')).toEqual({ role: 'assistant', content: simple })
  })
})

test('the blocks keep the numbers that the vendor wrote', async () => {
  const { upstream, ask, send } = await gateway()
  upstream.next(whole(JSON.stringify(message(content)).replace('"q"', '12345678901234567890')))
  const { output } = await ask({ input: 'Hi' })
  upstream.next(json({}, { status: 404 }))
  await send({ input: [user, ...output, result] })
  expect(upstream.text()).toContain('"input":{"query":12345678901234567890}')
})
