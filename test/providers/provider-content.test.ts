import { describe, expect, test } from 'vitest'
import { completion } from '../support/answers.ts'
import { readError, type TestGateway, testGateway } from '../support/gateway.ts'
import { json, stream, whole } from '../support/scripted-upstream.ts'
import { anthropicGateway, asking, event, message } from './anthropic/support.ts'

const text = (said: string, more: object = {}) => ({ type: 'text', text: said, ...more })
const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }
const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } }
const search = [
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } },
  { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ url: 'https://a.b' }] },
]
const interleaved = [text('One '), thinking, ...search, text('two'), call]

/** The message of an answer with these blocks. */
async function receive(content: readonly object[]): Promise<Record<string, unknown>> {
  const { chat, upstream } = await anthropicGateway()
  upstream.next(json(message(content)))
  const answer = (await (await chat(asking())).json()) as {
    choices: [{ message: Record<string, unknown> }]
  }
  return answer.choices[0].message
}

const result = { role: 'tool', tool_call_id: 'toolu_1', content: 'x' }
const user = { role: 'user', content: 'Hi' }

/** The blocks of the assistant that the vendor gets for a conversation with this message. */
async function giveBack(said: object, gateway?: TestGateway): Promise<unknown> {
  const { chat, upstream } = gateway ?? (await anthropicGateway({ settings: 'strict = true' }))
  upstream.next(json(message([text('ok')])))
  const response = await chat(asking({ messages: [user, said, result] }))
  expect(response.status, await response.clone().text()).toBe(200)
  const { messages } = upstream.body() as { messages: { content: unknown }[] }
  return messages[1]?.content
}

const carried = (content: unknown, family = 'anthropic') => ({
  role: 'assistant',
  content: 'One two',
  tool_calls: [{ id: 'toolu_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
  provider_content: { family, content },
})

describe('an answer', () => {
  test('carries its blocks where a message cannot give them back unchanged', async () => {
    expect(await receive(interleaved)).toMatchObject({
      content: 'One two',
      provider_content: { family: 'anthropic', content: interleaved },
    })
  })

  test.each([
    ['text and calls', [text('Hi', { citations: null }), { ...call, caller: { type: 'direct' } }]],
    ['thinking without its proof', [{ ...thinking, signature: '' }, text('Hi')]],
    ['an empty text', [text(''), text('Hi')]],
    ['nothing', []],
  ])('with %s carries none', async (_, content) => {
    expect(await receive(content)).not.toHaveProperty('provider_content')
  })

  test('of more than 4 MiB carries none', async () => {
    const long = text('a'.repeat(4 * 1024 * 1024))
    expect(await receive([long, text('b')])).not.toHaveProperty('provider_content')
  })

  test('of more than 5,000 blocks carries none', async () => {
    const blocks = Array.from({ length: 2500 }, () => [text('a'), thinking]).flat()
    expect(await receive(blocks)).toHaveProperty('provider_content')
    expect(await receive([...blocks, text('b')])).not.toHaveProperty('provider_content')
  })

  test('keeps the numbers of the blocks as the vendor wrote them', async () => {
    const { chat, upstream } = await anthropicGateway()
    const sent = JSON.stringify(message([...search, text('x')])).replace('"q"', '1.0e400')
    upstream.next(whole(sent))
    expect(await (await chat(asking())).text()).toContain('"input":{"query":1.0e400}')
  })
})

describe('a stream', () => {
  const blockEvents = (content: readonly { type: string }[]) =>
    content.flatMap((block, index) => [
      event('content_block_start', { index, content_block: block }),
      event('content_block_stop', { index }),
    ])
  const send = async (events: readonly string[]) => {
    const { chat, upstream } = await anthropicGateway()
    upstream.next(
      stream([
        event('message_start', { message: { ...message([]), stop_reason: null } }),
        ...events,
        event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } }),
        event('message_stop'),
      ]),
    )
    return (await (await chat(asking({ stream: true }))).text()).split('\n\n')
  }

  test('carries the blocks once, in a chunk of their own before the finish chunk', async () => {
    const frames = await send(blockEvents(interleaved))
    const at = frames.flatMap((frame, index) => (frame.includes('provider_content') ? [index] : []))
    expect(at).toHaveLength(1)
    const [carrier = '', finish = ''] = frames.slice(at[0])
    expect(JSON.parse(carrier.slice(6)).choices).toEqual([
      {
        index: 0,
        delta: { provider_content: { family: 'anthropic', content: interleaved } },
        finish_reason: null,
      },
    ])
    expect(finish).toContain('"finish_reason":"tool_calls"')
  })

  test('of more than 5,000 blocks carries none', async () => {
    const blocks = Array.from({ length: 2500 }, () => [text('a'), thinking]).flat()
    const carries = async (content: typeof blocks) =>
      (await send(blockEvents(content))).some((frame) => frame.includes('provider_content'))
    expect(await carries(blocks)).toBe(true)
    expect(await carries([...blocks, text('b')])).toBe(false)
  })

  test('puts what arrives in pieces together', async () => {
    const citation = { type: 'web_search_result_location', url: 'https://a.b', n: 1 }
    const delta = (index: number, piece: object) =>
      event('content_block_delta', { index, delta: piece })
    const frames = await send([
      ...blockEvents([{ ...text('So ') }]),
      event('content_block_start', {
        index: 1,
        content_block: { type: 'compaction', content: null },
      }),
      delta(1, { type: 'compaction_delta', content: 'all', encrypted_content: 'ZQ==' }),
      event('content_block_stop', { index: 1 }),
      event('content_block_start', { index: 2, content_block: text('') }),
      delta(2, { type: 'text_delta', text: 'cit' }),
      delta(2, { type: 'citations_delta', citation }),
      delta(2, { type: 'text_delta', text: 'ed' }),
      event('content_block_stop', { index: 2 }),
    ])
    const carrier = frames.find((frame) => frame.includes('provider_content')) ?? ''
    expect(JSON.parse(carrier.slice(6)).choices[0].delta.provider_content.content).toEqual([
      text('So '),
      { type: 'compaction', content: 'all', encrypted_content: 'ZQ==' },
      text('cited', { citations: [citation] }),
    ])
    const sources = frames.find((frame) => frame.includes('annotations')) ?? ''
    expect(JSON.parse(sources.slice(6)).choices[0].delta.annotations).toMatchObject([
      { index: 0, url_citation: { start_index: 3, end_index: 8, url: 'https://a.b' } },
    ])
  })

  test('with a delta that is newer than the gateway carries none', async () => {
    const frames = await send([
      ...blockEvents([text('One'), text('two')]),
      event('content_block_delta', { index: 2, delta: { type: 'new_delta', x: 1 } }),
    ])
    expect(frames.join('')).not.toContain('provider_content')
  })
})

describe('in the next turn', () => {
  test('the blocks go back unchanged, also to a strict provider', async () => {
    expect(await giveBack(await receive(interleaved))).toEqual(interleaved)
  })

  test('the text may have another form, and the arguments other blanks', async () => {
    const said = await receive(interleaved)
    const [first] = said['tool_calls'] as [{ function: object }]
    const rewritten = {
      ...said,
      content: ['One ', 'two'].map((part) => text(part)),
      tool_calls: [{ ...first, function: { name: 'f', arguments: '{ "a" : 1.0 }' } }],
    }
    expect(await giveBack(rewritten)).toEqual(interleaved)
  })

  test.each([
    ['text', { content: 'One three' }],
    ['arguments', { tool_calls: [edited({ arguments: '{"a":2}' })] }],
    ['name of a call', { tool_calls: [edited({ name: 'g' })] }],
  ])('they are not used if the client has edited the %s', async (_, change) => {
    const blocks = await giveBack({ ...(await receive(interleaved)), ...change })
    expect(JSON.stringify(blocks)).not.toContain('web_search')
  })

  function edited(change: object) {
    return {
      id: 'toolu_1',
      type: 'function',
      function: { name: 'f', arguments: '{"a":1}', ...change },
    }
  }

  test('a result is joined to its call by id, if the client renames both', async () => {
    const said = await receive([thinking, call])
    const gateway = await anthropicGateway()
    gateway.upstream.next(json(message([text('ok')])))
    const renamed = { ...said, tool_calls: [{ ...edited({}), id: 'a:b' }] }
    const answer = { ...result, tool_call_id: 'a:b' }
    await gateway.chat(asking({ messages: [user, renamed, answer] }))
    expect(gateway.upstream.body()).toMatchObject({
      messages: [
        user,
        { content: [thinking, { ...call, id: 'a_b' }] },
        { content: [{ tool_use_id: 'a_b' }] },
      ],
    })
  })

  test('blocks that the vendor refuses are left out', async () => {
    const said = [text('\n\n'), thinking, call, { ...thinking, signature: 'Yg==' }]
    expect(await giveBack(await receive(said))).toEqual([thinking, call])
  })

  test('a cache mark goes to the last block', async () => {
    const said = { ...(await receive(interleaved)), cache_control: { type: 'ephemeral' } }
    expect(await giveBack(said)).toEqual([
      ...interleaved.slice(0, -1),
      { ...call, cache_control: { type: 'ephemeral' } },
    ])
  })

  test('they count as thinking before the calls', async () => {
    const { chat, upstream } = await anthropicGateway()
    upstream.next(json(message([text('ok')])))
    const { thinking_blocks: _, ...said } = await receive([thinking, text('Hm'), call])
    await chat(asking({ messages: [user, said, result], reasoning_effort: 'low' }))
    expect(upstream.body()).toMatchObject({ thinking: { type: 'enabled' } })
  })
})

describe('what a client sends', () => {
  const path = 'messages.1.provider_content'

  test.each([
    ['a text', 'x', path],
    ['no content', { family: 'anthropic' }, `${path}.content`],
    ['a block that is no object', of(['x']), `${path}.content.0`],
    ['a block without a type', of([{ text: 'One two' }]), `${path}.content.0`],
    ['a text without its text', of([{ type: 'text' }]), `${path}.content.0`],
    ['thinking without its proof', of([{ type: 'thinking' }]), `${path}.content.0`],
    ['a call without an input', of([text('a'), { ...call, input: 1 }]), `${path}.content.1`],
    ['a block of a user', of([{ type: 'image', source: {} }]), `${path}.content.0`],
    ['more than 4 MiB', of([text('a'.repeat(4 * 1024 * 1024))]), `${path}.content`],
  ])('is LM-1001 with %s', async (_, content, param) => {
    const { chat, upstream } = await anthropicGateway()
    const said = { role: 'assistant', content: 'One two', provider_content: content }
    const response = await chat(asking({ messages: [user, said, user] }))
    expect(response.status).toBe(400)
    expect(await readError(response)).toMatchObject({ code: 'LM-1001', param })
    expect(upstream.requests).toEqual([])
  })

  function of(content: unknown) {
    return { family: 'anthropic', content }
  }

  test('is ignored in another family, also by a strict provider', async () => {
    const plain = [text('One two'), call]
    expect(await giveBack(carried('anything', 'google'))).toEqual(plain)
    expect(await giveBack(carried(null, 'new'))).toEqual(plain)
  })
})

describe('providers of the OpenAI format', () => {
  const config = `
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
[[providers.models]]
id = "m"
upstream_id = "gpt"
`

  test.each([
    [
      '{"role":"assistant","provider_content":X,"content":"a"}',
      '{"role":"assistant","content":"a"}',
    ],
    ['{ "provider_content" : X , "role":"assistant"}', '{ "role":"assistant"}'],
    [
      '{"role":"assistant","content":"\\u00e9" , "provider_content":X }',
      '{"role":"assistant","content":"\\u00e9" }',
    ],
    ['{"role":"assistant","provider_content":X,"provider_content":null}', '{"role":"assistant"}'],
    ['{"provider_content":1,"role":"user","provider\\u005fcontent":X}', '{"role":"user"}'],
  ])('get the bytes of %s without the blocks', async (sent, kept) => {
    const { chat, upstream } = await testGateway(config, { env: { P_KEY: 'k' } })
    upstream.next(json(completion()))
    const blocks = '{"family":"anthropic","content":[{"type":"text","text":"},]\\"é"},1e400]}'
    const body = (one: string) =>
      `{"messages" :[{"role":"user","content":"ü"},${one}],"seed":12345678901234567890,"model":"m"}`
    const response = await chat(body(sent.replace('X', blocks)))
    expect(response.status, await response.clone().text()).toBe(200)
    expect(upstream.text()).toBe(body(kept).replace('"m"', '"gpt"'))
  })
})
