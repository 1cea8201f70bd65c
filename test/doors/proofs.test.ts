import { describe, expect, test } from 'vitest'
import { decodeProof, encodeProof } from '../../src/doors/proofs.ts'
import { completion } from '../support/answers.ts'
import { json } from '../support/scripted-upstream.ts'
import { responsesGateway } from './responses/support.ts'

const extra = { google: { thought_signature: 'c2ln' } }
const block = { type: 'thinking' as const, thinking: 'Hm', signature: 'abc' }

describe('the content of a reasoning item', () => {
  test('comes back as it was', () => {
    const proof = { model: 'm', thinking: [block], calls: [{ id: 'a', extra }], message: extra }
    expect(decodeProof(encodeProof(proof) ?? '')).toEqual(proof)
  })

  test.each([
    ['that of OpenAI', 'gAAAAABo'],
    ['broken base64', 'gateway-1.$$'],
    ['another text', `gateway-1.${btoa('no JSON')}`],
    ['another form', `gateway-1.${btoa('{"model":5}')}`],
    ['a deep text', `gateway-1.${btoa(`{"model":"m","message":${'['.repeat(9999)}`)}`],
    ['a long text', `gateway-1.${'A'.repeat(5_000_000)}`],
  ])('%s is ignored', (_, content) => {
    expect(decodeProof(content)).toBeUndefined()
  })

  test("leaves out the vendor's blocks if they are too long", () => {
    const content = { family: 'google', content: [{ text: 'x'.repeat(5_000_000) }] }
    const encoded = encodeProof({ model: 'm', message: extra, content }) ?? ''
    expect(decodeProof(encoded)).toEqual({ model: 'm', message: extra })
  })

  test('reasoning that is too long has no content', () => {
    expect(encodeProof({ model: 'm', reasoning: 'x'.repeat(5_000_000) })).toBeUndefined()
  })
})

describe('reasoning on its way back', () => {
  /** Returns the assistant message that an upstream of the OpenAI format gets. */
  async function giveBack(items: readonly object[]) {
    const { upstream, ask } = await responsesGateway()
    upstream.next(json(completion('Hi')))
    await ask({ input: [...items, { role: 'user', content: 'x' }] })
    const { messages } = upstream.body() as { messages: Record<string, unknown>[] }
    return messages[0]
  }

  const call = { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' }
  const item = (proof: Parameters<typeof encodeProof>[0]) => ({
    type: 'reasoning',
    id: 'rs_1',
    summary: [],
    encrypted_content: encodeProof(proof),
  })

  test('goes to the model that it came from', async () => {
    const proof = { model: 'm', reasoning: 'Hm', calls: [{ id: 'a', extra }] }
    expect(await giveBack([item(proof), call])).toMatchObject({
      reasoning_content: 'Hm',
      tool_calls: [{ id: 'a', extra_content: extra }],
    })
  })

  test('does not go to another model of the OpenAI format', async () => {
    const proof = {
      model: 'other',
      reasoning: 'Hm',
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
})
