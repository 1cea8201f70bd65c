import { describe, expect, test } from 'vitest'
import { readStream } from '../../support/chunks.ts'
import { readError } from '../../support/gateway.ts'
import { type Merge, type MergedMessage, merges } from '../../support/merged-deltas.ts'
import { type AnswerBlock, families, type Setup } from './support.ts'

/*
 * The vendor must get its thinking back unchanged and in its place, or none of it, turn after turn.
 * https://platform.claude.com/docs/en/build-with-claude/extended-thinking
 */

const thought = (thinking: string, signature = `signed ${thinking}`): AnswerBlock => ({
  type: 'thinking',
  thinking,
  signature,
})
const hidden: AnswerBlock = { type: 'redacted_thinking', data: 'aGlkZGVu' }
const text = (value: string): AnswerBlock => ({ type: 'text', text: value })
const call = (id: string, input = '{"a":1}'): AnswerBlock => ({ type: 'tool_use', id, input })

/** The ways in which a client obtains the message that it sends back. */
const ways: Readonly<Record<string, Merge | undefined>> = { whole: undefined, ...merges }

describe.each(families)('$name', (family) => {
  describe.each(Object.entries(ways))('%s', (_way, merge) => {
    /** Returns the message that the client reads from an answer. */
    async function message(
      content: readonly AnswerBlock[],
      fields: object = {},
      setup: Setup = {},
    ) {
      const { chat, upstream } = await family.gateway(setup)
      upstream.next(merge ? family.streamed(content) : family.whole(content))
      const response = await chat({ ...asking, ...fields, stream: merge !== undefined })
      expect(response.status).toBe(200)
      if (merge) return merge((await readStream(response)).chunks)
      // The tests compare the shape.
      const answer = (await response.json()) as { choices: [{ message: MergedMessage }] }
      return answer.choices[0].message
    }

    /**
     * Sends the results of the calls and returns the upstream request, or the error. By default the client
     * keeps no `provider_content`.
     */
    async function next(
      content: readonly AnswerBlock[],
      fields: object = {},
      { keepsContent = false, ...setup }: Setup & { readonly keepsContent?: boolean } = {},
    ) {
      const { provider_content: own, ...rest } = await message(content, fields, setup)
      const answer: MergedMessage = keepsContent ? { ...rest, provider_content: own } : rest
      const ids = (answer['tool_calls'] ?? []) as readonly { id: string }[]
      const results = ids.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'x' }))
      const { chat, upstream } = await family.gateway(setup)
      upstream.next(family.whole([text('Done.')]))
      const messages = [...asking.messages, answer, ...results]
      const response = await chat({ ...asking, ...fields, messages })
      if (response.status !== 200) return { error: await readError(response) }
      const body = upstream.body()
      return { turn: family.assistantTurns(body)[0], thinking: family.thinking(body) }
    }

    test.each([
      ['a signed thought', [thought('Hm.')]],
      ['a redacted thought', [hidden]],
      ['several thoughts', [thought('One.'), hidden, thought('Two.')]],
      ['a thought without text', [thought('', 'c2ln')]],
    ])('%s goes back in front of the call', async (_name, thoughts) => {
      const { turn } = await next([...thoughts, text('Let me see.'), call('t1'), call('t2')])
      expect(turn).toEqual([
        ...thoughts,
        text('Let me see.'),
        { type: 'tool_use', id: 't1', name: 'f', input: { a: 1 } },
        { type: 'tool_use', id: 't2', name: 'f', input: { a: 1 } },
      ])
    })

    test.each([
      { reasoning_effort: 'low' },
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
    ])('a strict provider accepts %j in the next turn', async (fields) => {
      const { turn, thinking } = await next([thought('Hm.'), call('t1')], fields, { strict: true })
      expect(turn?.[0]).toEqual(thought('Hm.'))
      expect(thinking).toMatchObject({ type: 'enabled' })
    })

    test.each([
      ['after a text', [thought('One.'), text('So.'), thought('Two.'), call('t1')]],
      ['after a call', [thought('One.'), call('t1'), hidden, call('t2')]],
      ['after a text that opens', [text('So.'), thought('One.'), call('t1')]],
    ])('a thought %s goes back there with provider_content only', async (_name, content) => {
      const setup = { model: 'claude-opus-4-8' }
      const asked = { reasoning_effort: 'low' }
      const returned = content.map((block) =>
        block.type === 'tool_use' ? { ...block, name: 'f', input: { a: 1 } } : block,
      )
      const { turn } = await next(content, asked, { ...setup, keepsContent: true })
      expect(turn).toEqual(returned)
      expect((await next(content, asked, setup)).turn).toEqual(
        returned.filter(({ type }) => type === 'text' || type === 'tool_use'),
      )
    })

    test('a thought without a signature is shown, but is not in thinking_blocks', async () => {
      const answer = await message([thought('Hm.', ''), text('Hi')])
      expect(answer['reasoning_content']).toMatch(/\.$/)
      expect(answer).not.toHaveProperty('thinking_blocks')
    })

    test('arguments go back exactly as the model wrote them', async () => {
      const input = '{"id":12345678901234567890,"n":1.0,"big":1e400,"z":0,"a":{"b":1,"b":2}}'
      const content = [call('t1', input)]
      const answer = await message(content)
      expect(answer['tool_calls']).toMatchObject([{ function: { name: 'f', arguments: input } }])

      const { chat, upstream } = await family.gateway({})
      upstream.next(family.whole([text('Done.')]))
      const result = { role: 'tool', tool_call_id: 't1', content: 'x' }
      await chat({ ...asking, messages: [...asking.messages, answer, result] })
      expect(upstream.text()).toContain(`"input":${input}}`)
    })
  })

  test.each([
    ['text', text('Hi')],
    ['call', call('t1')],
  ])('a stream opens with the role where redacted thinking precedes a %s', async (_name, block) => {
    const { chat, upstream } = await family.gateway({})
    upstream.next(family.streamed([hidden, block]))
    const { chunks } = await readStream(await chat({ ...asking, stream: true }))
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta))
    expect(deltas.slice(0, 2)).toEqual([
      { role: 'assistant', content: '' },
      { thinking_blocks: [hidden] },
    ])
  })

  describe('a call that the client sends back without its thinking', () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        tool_calls: [{ id: 't1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 't1', content: 'x' },
    ]

    test.each([
      ['reasoning_effort', { reasoning_effort: 'low' }],
      ['thinking', { thinking: { type: 'enabled', budget_tokens: 2000 } }],
    ])('a budget is dropped from %s, which the vendor would refuse', async (field, fields) => {
      const { chat, upstream } = await family.gateway({})
      upstream.next(family.whole([text('Done.')]))
      expect((await chat({ ...asking, ...fields, messages })).status).toBe(200)
      expect(family.thinking(upstream.body())).toBe(undefined)

      const strict = await family.gateway({ strict: true })
      const refused = await strict.chat({ ...asking, ...fields, messages })
      expect(await readError(refused)).toMatchObject({ code: 'LM-1001', param: field })
      expect(strict.upstream.requests).toEqual([])
    })

    test('an adaptive model is unchanged', async () => {
      const { chat, upstream } = await family.gateway({ model: 'claude-opus-4-8', strict: true })
      upstream.next(family.whole([text('Done.')]))
      const thinking = { type: 'adaptive' }
      expect((await chat({ ...asking, thinking, messages })).status).toBe(200)
      expect(family.thinking(upstream.body())).toEqual(thinking)
    })
  })
})

const asking = {
  model: 'm',
  messages: [{ role: 'user', content: 'Hi' }],
  tools: [{ type: 'function', function: { name: 'f' } }],
}
