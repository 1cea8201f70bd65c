import { describe, expect, test } from 'vitest'
import { encodeProof, openProof } from '../../src/doors/proofs.ts'
import { completion } from '../support/answers.ts'
import { json } from '../support/scripted-upstream.ts'
import { responsesGateway } from './responses/support.ts'

const extra = { google: { thought_signature: 'c2ln' } }
const block = { type: 'thinking' as const, thinking: 'Hm', signature: 'abc' }

describe('the content of a reasoning item', () => {
  test('comes back as it was', () => {
    const proof = { model: 'm', thinking: [block], calls: [{ id: 'a', extra }], message: extra }
    expect(openProof(encodeProof(proof) ?? '').proof).toEqual(proof)
  })

  test.each([
    ['that of OpenAI', 'gAAAAABo'],
    ['broken base64', 'gateway-1.$$'],
    ['another text', `gateway-1.${btoa('no JSON')}`],
    ['another form', `gateway-1.${btoa('{"model":5}')}`],
    ['a deep text', `gateway-1.${btoa(`{"model":"m","message":${'['.repeat(9999)}`)}`],
    ['a long text', `gateway-1.${'A'.repeat(5_000_000)}`],
  ])('%s is ignored', (_, content) => {
    expect(openProof(content).proof).toBeUndefined()
  })

  test("leaves out the vendor's blocks if they are too long", () => {
    const content = { family: 'google', content: [{ text: 'x'.repeat(5_000_000) }] }
    const encoded = encodeProof({ model: 'm', message: extra, content }) ?? ''
    expect(openProof(encoded).proof).toEqual({ model: 'm', message: extra })
  })

  test('leaves out a list that is too long to be read again', () => {
    const calls = Array.from({ length: 1001 }, (_, at) => ({ id: `${at}`, extra }))
    const encoded = encodeProof({ model: 'm', message: extra, thinking: [block], calls }) ?? ''
    expect(openProof(encoded).proof).toEqual({ model: 'm', message: extra, thinking: [block] })
    const last = encodeProof({ model: 'm', calls: calls.slice(1) }) ?? ''
    expect(openProof(last).proof?.calls).toHaveLength(1000)
  })

  test('reasoning that is too long has no content', () => {
    expect(encodeProof({ model: 'm', past: [{ text: 'x'.repeat(5_000_000) }] })).toBeUndefined()
  })
})

describe('reasoning on its way back', () => {
  /** Returns the assistant message that an upstream of the OpenAI format gets. */
  async function giveBack(items: readonly object[], later = [{ role: 'user', content: 'x' }]) {
    const { upstream, ask } = await responsesGateway()
    upstream.next(json(completion('Hi')))
    await ask({ input: [...items, ...later] })
    const { messages } = upstream.body() as { messages: Record<string, unknown>[] }
    return messages.find(({ content }) => content !== 'Continue.')
  }

  const call = { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' }
  const item = (proof: Parameters<typeof encodeProof>[0]) => ({
    type: 'reasoning',
    id: 'rs_1',
    summary: [],
    encrypted_content: encodeProof(proof),
  })

  test('goes to the model that it came from', async () => {
    const past = [{ form: 'reasoning' as const, text: 'Hm' }]
    const proof = { model: 'm', past, calls: [{ id: 'a', extra }] }
    const result = { type: 'function_call_output', call_id: 'a', output: 'done' }
    expect(await giveBack([item(proof), call, result], [])).toMatchObject({
      reasoning: 'Hm',
      tool_calls: [{ id: 'a', extra_content: extra }],
    })
  })

  test('does not go to another model of the OpenAI format', async () => {
    const proof = {
      model: 'other',
      past: [{ text: 'Hm' }],
      thinking: [block],
      calls: [{ id: 'a', extra }],
    }
    expect(await giveBack([item(proof), call])).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
    })
  })

  test('is left out without text and calls', async () => {
    expect(await giveBack([item({ model: 'm', thinking: [block] })])).toMatchObject({
      role: 'user',
    })
  })

  test('proves one call of an id: the first proof, and the first call', async () => {
    const other = { google: { thought_signature: 'b3RoZXI=' } }
    const first = { model: 'm', calls: [{ id: 'a', extra }] }
    const second = { model: 'm', calls: [{ id: 'a', extra: other }] }
    const message = await giveBack([item(first), item(second), call, call])
    expect(message?.['tool_calls']).toEqual([
      expect.objectContaining({ id: 'a', extra_content: extra }),
      { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
    ])
  })
})

describe('the values in encoded reasoning count as those of the request', () => {
  // 1,000 ids, each with four values around it.
  const calls = Array.from({ length: 1000 }, (_, at) => ({ id: `${at}`, extra }))
  const encoded = encodeProof({ model: 'm', calls }) ?? ''
  const texts = (count: number) => Array.from({ length: count }, () => encoded)
  const doors = {
    '/v1/responses': (count: number) => ({
      input: [
        ...texts(count).map((encrypted_content) => ({ type: 'reasoning', encrypted_content })),
        { role: 'user', content: 'x' },
      ],
    }),
    '/v1/messages': (count: number) => ({ max_tokens: 9, messages: signed(texts(count)) }),
    '/v1/messages/count_tokens': (count: number) => ({ messages: signed(texts(count)) }),
  }
  const signed = (signatures: readonly string[]) => [
    { role: 'user', content: 'x' },
    {
      role: 'assistant',
      content: [
        ...signatures.map((signature) => ({ type: 'thinking', thinking: '', signature })),
        { type: 'text', text: 'x' },
      ],
    },
    { role: 'user', content: 'x' },
  ]

  test.each(Object.keys(doors) as (keyof typeof doors)[])('at %s', async (path) => {
    const { upstream, get } = await responsesGateway()
    upstream.always(json(completion('Hi')))
    const send = (count: number) => {
      const body = JSON.stringify({ model: 'm', ...doors[path](count) })
      return get(path, { method: 'POST', body })
    }
    expect((await send(10)).status).toBe(200)
    const refused = await send(60)
    expect(refused.status).toBe(400)
    expect(await refused.text()).toMatch(
      /"message":"(input|messages)[^"]*: the request body and the encoded reasoning in it hold more than 200000 objects, arrays and members together"/,
    )
  })
})
