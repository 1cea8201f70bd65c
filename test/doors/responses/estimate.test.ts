import { describe, expect, test } from 'vitest'
import { encodeProof } from '../../../src/doors/proofs.ts'
import { RequestProofs } from '../../../src/doors/request-proofs.ts'
import { estimatePrompt } from '../../../src/doors/responses/estimate.ts'

const perMessage = 3
const perReply = 3

const estimate = (members: object) =>
  estimatePrompt({ model: 'm', ...members }, { proofs: new RequestProofs() })

describe('the estimate of a Responses prompt', () => {
  test('counts a quarter of the bytes, and 3 tokens for each message and the reply', () => {
    const tokens = (bytes: number) => perMessage + Math.ceil(bytes / 4)
    const items = [
      { role: 'user', content: [{ type: 'input_text', text: 'Hello é' }] },
      { type: 'reasoning', summary: [], encrypted_content: 'gAAA' },
      { type: 'function_call', call_id: 'c', name: 'find', arguments: '{"a":1}' },
      { type: 'tool_search_call', arguments: { a: 1 } },
      { type: 'function_call_output', call_id: 'c', output: 'found' },
    ]
    const sizes = ['user'.length + 8, 0, 4 + 7, 7, 5]
    const expected = sizes.reduce((sum, size) => sum + tokens(size), perReply)
    expect(estimate({ input: items })).toBe(expected)
    expect(estimate({ input: items, instructions: 'Be brief.' })).toBe(expected + tokens(6 + 9))
    const tool = { type: 'function', name: 'find' }
    const toolTokens = Math.ceil(JSON.stringify(tool).length / 4)
    expect(estimate({ input: items, tools: [tool] })).toBe(expected + toolTokens)
  })

  test('counts a text like the message of a user', () => {
    expect(estimate({ input: 'Hello' })).toBe(
      estimate({ input: [{ role: 'user', content: 'Hello' }] }),
    )
  })

  test('counts images', () => {
    const image = (detail: string) => [{ type: 'input_image', image_url: 'data:,', detail }]
    const [low, high] = ['low', 'high'].map((detail) =>
      estimate({ input: [{ role: 'user', content: image(detail) }] }),
    )
    const text = estimate({ input: [{ role: 'user', content: [] }] })
    expect([low, high]).toEqual([text + 85, text + 765])
  })

  test("counts a vendor's own blocks in place of the items that they replace", () => {
    const said = 'x'.repeat(400)
    const content = { family: 'anthropic', content: [{ type: 'text', text: said }] }
    const answer = { role: 'assistant', content: said }
    const reasoning = {
      type: 'reasoning',
      encrypted_content: encodeProof({ model: 'm', content }),
    }
    const own = Math.ceil((JSON.stringify(content).length - 'assistant'.length - 400) / 4)
    const without = estimate({ input: [answer] })
    const expected = without + own + 2 * perMessage
    expect(estimate({ input: [answer, reasoning] })).toBe(expected)
    expect(estimate({ input: [reasoning, answer] })).toBe(expected)
    // The blocks of one answer do not replace another one.
    const next = [{ role: 'user', content: said }]
    expect(estimate({ input: [reasoning, answer, ...next] })).toBe(
      expected + estimate({ input: next }) - perReply,
    )
  })
})
