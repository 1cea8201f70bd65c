import { describe, expect, test } from 'vitest'
import { encodeProof, type GivenProof } from '../../../src/doors/proofs.ts'
import { extractTexts } from '../../../src/wire/json/text.ts'
import { answered, counts } from '../../providers/google/support.ts'
import { json, stream, whole } from '../../support/scripted-upstream.ts'
import {
  message,
  messagesGateway,
  parseEvents,
  post,
  readMessagesError,
  twoLinks,
} from './support.ts'

/** Models `g` of Gemini, `claude` of a native link, and `m` of the OpenAI format. */
const config = `
${twoLinks}
[[providers]]
name = "g"
kind = "google"
api_key_env = "P_KEY"
models = [{ id = "g", upstream_id = "gemini-3-flash-preview" }]
[[providers]]
name = "o"
kind = "openai"
responses = true
api_key_env = "P_KEY"
models = [{ id = "gpt" }]
`

const gateway = () => messagesGateway(config)

const thought = { text: 'Hm.', thought: true }
const code = [
  { executableCode: { language: 'PYTHON', code: '1' }, thoughtSignature: 'c2ln' },
  { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
]
const call = { functionCall: { id: 'fc-1', name: 'f', args: { a: 1 } }, thoughtSignature: 'Yw==' }
const content = [{ text: 'One ' }, ...code, { text: 'two' }, call]

type Block = Readonly<Record<string, unknown>>

const user = { role: 'user', content: 'Hi' }
const result = {
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: 'fc-1', content: 'x' }],
}
const asking = (fields: object = {}) => ({
  model: 'g',
  max_tokens: 64,
  messages: [user],
  ...fields,
})

async function receive(parts: readonly object[]): Promise<readonly Block[]> {
  const one = await gateway()
  one.upstream.next(json({ ...answered(parts, { finishReason: 'STOP' }), usageMetadata: counts }))
  const answer = (await (await post(one, asking())).json()) as { content: Block[] }
  return answer.content
}

/** The blocks of a stream with one part in each event. */
async function receiveStream(parts: readonly object[]): Promise<readonly Block[]> {
  const one = await gateway()
  const events = parts.map((part, at) =>
    answered([part], at === parts.length - 1 ? { finishReason: 'STOP' } : {}),
  )
  one.upstream.next(stream(events.map((event) => `data: ${JSON.stringify(event)}\n\n`)))
  const text = await (await post(one, asking({ stream: true }))).text()
  const blocks: Record<string, unknown>[] = []
  for (const { type, index, content_block: start, delta } of parseEvents(text)) {
    if (type === 'content_block_start') blocks[Number(index)] = { ...(start as object) }
    const { type: _, partial_json: input, ...pieces } = (delta ?? {}) as Block
    const block = blocks[Number(index)] ?? {}
    if (typeof input === 'string') block['input'] = JSON.parse(input)
    if (type !== 'content_block_delta') continue
    for (const [name, piece] of Object.entries(pieces)) block[name] = `${block[name]}${piece}`
  }
  return blocks
}

/** Sends a conversation with an answer of these blocks. */
async function send(blocks: readonly object[], model = 'g') {
  const one = await gateway()
  one.upstream.next(json({}, { status: 404 }))
  const next = JSON.stringify(blocks).includes('tool_use') ? result : user
  const messages = [user, { role: 'assistant', content: blocks }, next]
  const response = await post(one, asking({ model, messages }))
  return { response, upstream: one.upstream }
}

/** The parts that Gemini gets for an answer of these blocks. */
async function giveBack(blocks: readonly object[]): Promise<unknown> {
  const { upstream } = await send(blocks)
  const { contents } = upstream.body() as { contents: { parts: unknown }[] }
  return contents[1]?.parts
}

const types = (blocks: readonly Block[]) => blocks.map(({ type }) => type)

describe('what no block of the API holds', () => {
  test('comes back to its vendor from a whole answer, in thinking before the text', async () => {
    const blocks = await receive(content)
    expect(types(blocks)).toEqual(['thinking', 'text', 'tool_use'])
    expect(blocks[0]).toMatchObject({
      thinking: '',
      signature: expect.stringMatching(/^gateway-1\./),
    })
    expect(await giveBack(blocks)).toEqual(content)
  })

  test('comes back from a stream, in thinking behind the calls', async () => {
    const blocks = await receiveStream(content)
    expect(types(blocks)).toEqual(['text', 'thinking', 'tool_use', 'thinking'])
    expect(await giveBack(blocks)).toEqual(content)
  })

  test('signs the thinking that a whole answer has', async () => {
    const said = [{ text: 'One ' }, thought, { text: 'two', thoughtSignature: 'Yw==' }]
    const blocks = await receive(said)
    expect(blocks).toMatchObject([{ type: 'thinking', thinking: 'Hm.' }, { type: 'text' }])
    expect(await giveBack(blocks)).toEqual(said)
  })

  test('is left out of a stream that ends in text: clients take the last block for the answer', async () => {
    expect(types(await receiveStream([...code, { text: 'One' }]))).toEqual(['text'])
  })

  test.each([
    ['a text', [{ text: 'Hi' }]],
    ['a signed text', [{ text: 'Hi', thoughtSignature: 'Yw==' }]],
    ['a text and a call', [{ text: 'Hi' }, { functionCall: call.functionCall }]],
  ])('is not in %s', async (_, parts) => {
    expect(types(await receive(parts))).not.toContain('thinking')
    expect(types(await receiveStream(parts))).not.toContain('thinking')
  })

  test('adds no thinking behind the calls where their signatures are enough', async () => {
    const said = [thought, { text: 'So.' }, call]
    const blocks = await receiveStream(said)
    expect(types(blocks)).toEqual(['thinking', 'text', 'thinking', 'tool_use'])
    expect(await giveBack(blocks)).toEqual([{ text: 'So.' }, call])
  })

  test('keeps the numbers that the vendor wrote', async () => {
    const one = await gateway()
    const parts = [{ executableCode: { code: 1 } }, call]
    const answer = JSON.stringify(answered(parts, { finishReason: 'STOP' }))
    one.upstream.next(whole(answer.replace('"code":1', '"code":12345678901234567890')))
    const { content: blocks } = JSON.parse(await (await post(one, asking())).text())
    const { upstream } = await send(blocks)
    expect(extractTexts(upstream.text(), 'contents.*.parts.*').get('contents.1.parts.0')).toBe(
      '{"executableCode":{"code":12345678901234567890}}',
    )
  })

  test('counts for the estimate of the prompt', async () => {
    const blocks = await receive(content)
    const count = async (said: readonly Block[]) => {
      const messages = [user, { role: 'assistant', content: said }, result]
      const path = '/v1/messages/count_tokens'
      return (await (await post(await gateway(), { model: 'g', messages }, { path })).json()) as {
        input_tokens: number
      }
    }
    const plain = await count(blocks.slice(1))
    expect((await count(blocks)).input_tokens).toBeGreaterThan(plain.input_tokens + 40)
  })
})

describe('the client', () => {
  test('may edit the text, which then counts', async () => {
    const blocks = await receive(content)
    const edited = JSON.parse(JSON.stringify(blocks).replace('One two', 'One three'))
    expect(await giveBack(edited)).toMatchObject([{ text: 'One three' }, call])
  })

  test('may leave the thinking out', async () => {
    const blocks = (await receive(content)).filter(({ type }) => type !== 'thinking')
    expect(JSON.stringify(await giveBack(blocks))).not.toContain('executableCode')
  })

  const forged = (proof: object) => [
    { type: 'thinking', thinking: '', signature: encodeProof(proof as GivenProof) },
    { type: 'text', text: 'Hi' },
  ]

  test('gets LM-1001 for blocks that no answer has', async () => {
    const parts = [{ text: 'Hi' }, { functionResponse: {} }]
    const { response, upstream } = await send(
      forged({ model: 'g', content: { family: 'google', content: parts } }),
    )
    expect(response.status).toBe(400)
    expect(await readMessagesError(response)).toMatchObject({
      code: 'LM-1001',
      param: 'messages.1',
    })
    expect(upstream.requests).toEqual([])
  })

  test.each([
    ['blocks of another family', forged({ model: 'g', content: { family: 'x', content: [1] } })],
    ['another form', forged({ model: 5 })],
    ['a broken text', [{ type: 'redacted_thinking', data: 'gateway-1.$' }, ...forged({})]],
    [
      'a deeply nested text',
      forged({ model: 'g', content: { family: 'google', content: JSON.parse(deep(200)) } }),
    ],
  ])('may send %s, which is ignored', async (_, blocks) => {
    expect(await giveBack(blocks)).toEqual([{ text: 'Hi' }])
  })

  function deep(depth: number): string {
    return '['.repeat(depth) + ']'.repeat(depth)
  }
})

test('the blocks do not go to a vendor of another API', async () => {
  const { upstream } = await send(await receive(content), 'm')
  expect(upstream.body()).toMatchObject({
    messages: [user, { content: 'One two' }, { role: 'tool', content: 'x' }],
  })
  expect(upstream.text()).not.toContain('executableCode')
})

describe('across APIs', () => {
  const proofOf = (blocks: readonly Block[]) => blocks[0]?.['signature']

  test('the Responses API reads what the Messages API wrote', async () => {
    const one = await gateway()
    one.upstream.next(json({}, { status: 404 }))
    const input = [
      user,
      { type: 'reasoning', summary: [], encrypted_content: proofOf(await receive(content)) },
      { role: 'assistant', content: 'One two' },
      { type: 'function_call', call_id: 'fc-1', name: 'f', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'fc-1', output: 'x' },
    ]
    await one.get('/v1/responses', {
      method: 'POST',
      body: JSON.stringify({ model: 'g', input }),
    })
    expect(one.upstream.body()).toMatchObject({ contents: [{}, { parts: content }, {}] })
  })

  test.each(['signature', 'data'])(
    'the Messages API reads what Responses wrote, as %s',
    async (name) => {
      const one = await gateway()
      one.upstream.next(
        json({ ...answered(content, { finishReason: 'STOP' }), usageMetadata: counts }),
      )
      const response = await one.get('/v1/responses', {
        method: 'POST',
        body: JSON.stringify({ model: 'g', input: 'Hi' }),
      })
      const { output } = (await response.json()) as { output: { encrypted_content?: string }[] }
      const type = name === 'data' ? 'redacted_thinking' : 'thinking'
      const [, ...said] = await receive(content)
      const proof = { type, thinking: '', [name]: output[0]?.encrypted_content }
      expect(await giveBack([proof, ...said])).toEqual(content)
    },
  )
})

describe('a native link', () => {
  const signature = encodeProof({ model: 'g' })
  const own = `{ "type":"thinking","thinking":"Hm, \\"]}\\u00e9","signature":"${signature}" }`
  const redacted = `{"type":"redacted_thinking","data":"${signature}"}`
  const theirs = '{"type":"thinking","thinking":"a","signature":"c2ln"}'
  const text = '{"type":"text","text":"\\u00fc 12345678901234567890"}'
  const said = (blocks: string) =>
    `{"messages" :[{"role":"user","content":"Hi"},{"role":"assistant","content":[${blocks}]},` +
    `{"role":"user","content":[${text}]}],"x":12345678901234567890,"max_tokens":9,"model":"claude"}`

  test.each([
    [`${own},${text}`, text],
    [`${text} , ${own}`, text],
    [`${theirs},${own}, ${redacted},${text}`, `${theirs},${text}`],
    [`${theirs},${text}`, `${theirs},${text}`],
  ])('gets %s without the thinking of the gateway', async (blocks, kept) => {
    for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
      const one = await gateway()
      one.upstream.next(json(message()))
      await post(one, said(blocks), { path })
      expect(one.upstream.text()).toBe(
        said(kept).replace('"model":"claude"', '"model":"claude-sonnet-4-5"'),
      )
    }
  })

  test('does not get a message that has nothing else', async () => {
    const one = await gateway()
    one.upstream.next(json(message()))
    await post(one, said(own))
    expect(one.upstream.text()).toContain(
      `"content":"Hi"},{"role":"user","content":[${text}]}],"x"`,
    )
  })

  test('of the Responses API gets no reasoning of the gateway', async () => {
    const input = (items: string) =>
      `{"input":[${items}{"role":"user","content":"\\u00fc"}],"model":"gpt"}`
    const item = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"${signature}"}`
    const other = '{"type":"reasoning","summary":[],"encrypted_content":"gAAA"}'
    const one = await gateway()
    one.upstream.next(json({ output: [], status: 'completed' }))
    await one.get('/v1/responses', { method: 'POST', body: input(`${item} ,${other},${item},`) })
    expect(one.upstream.text()).toBe(input(`${other},`))
  })
})
