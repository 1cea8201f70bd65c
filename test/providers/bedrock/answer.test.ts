import { describe, expect, test } from 'vitest'
import { readError } from '../../support/gateway.ts'
import { json } from '../../support/scripted-upstream.ts'
import {
  answered,
  asking,
  bedrockGateway,
  readOutcome,
  requestId,
  sendMessages,
  waitForAnswer,
} from './support.ts'

describe('an answer', () => {
  test('the id is AWS’s request id, or an id of the gateway', async () => {
    const { chat, upstream } = await bedrockGateway()
    const answer = answered([{ text: 'Hi' }])
    upstream.next(json(answer, { headers: requestId }), json(answer))
    expect(await (await chat(asking())).json()).toMatchObject({ id: 'chatcmpl-rid-1', model: 'm' })
    const { id } = (await (await chat(asking())).json()) as { id: string }
    expect(id).toMatch(/^chatcmpl-[0-9a-f]{32}$/)
  })

  test('texts and cited texts are joined, other blocks are left out', async () => {
    const cited = { citationsContent: { content: [{ text: 'b' }, { text: 'c' }], citations: [] } }
    const image = { image: { format: 'png', source: { bytes: 'AAAA' } } }
    const blocks = [{ text: 'a' }, cited, image, { guardContent: {} }, { text: 'd' }]
    expect((await readOutcome(blocks)).content).toBe('abcd')
    expect((await readOutcome([])).content).toBe('')
  })

  test.each([[''], [undefined]])(
    'a call with the id %j gets an id of the gateway',
    async (toolUseId) => {
      const call = { toolUse: { toolUseId, name: 'f', input: {} } }
      const { calls } = await readOutcome([call, call])
      for (const { id } of calls) expect(id).toMatch(/^call_[0-9a-f]{24}$/)
      expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
    },
  )

  test('a call with the type of a call of the client is a plain one', async () => {
    const { message } = await readOutcome([{ text: 'Ok.' }, typedCall])
    expect(message).toMatchObject({ tool_calls: [{ id: 't1', function: { name: 'f' } }] })
    expect(message).not.toHaveProperty('provider_content')
  })

  test('the type of a call of the client does not go back, that of a server does', async () => {
    const server = { toolUse: { toolUseId: 's1', name: 'g', input: {}, type: 'server_tool_use' } }
    const { message } = await readOutcome([{ text: 'Ok.' }, server, { text: 'So' }, typedCall])
    expect(message).toHaveProperty('provider_content')
    const result = { role: 'tool', tool_call_id: 't1', content: 'x' }
    const { messages } = await sendMessages([{ role: 'user', content: 'Hi' }, message, result])
    const { type: _, ...plainCall } = typedCall.toolUse
    expect(messages[1]?.content).toEqual([
      { text: 'Ok.' },
      server,
      { text: 'So' },
      { toolUse: plainCall },
    ])
  })

  const typedCall = { toolUse: { toolUseId: 't1', name: 'f', input: { a: 1 }, type: 'tool_use' } }

  test('thinking_blocks are sent whether or not the client asked for reasoning', async () => {
    const blocks = [
      { reasoningContent: { reasoningText: { text: 'Hm. ', signature: 'c2ln' } } },
      { reasoningContent: { redactedContent: 'AAAA' } },
      { reasoningContent: { reasoningText: { text: 'Ah.' } } },
      { text: 'Hi' },
    ]
    for (const fields of [{ reasoning_effort: 'low' }, {}]) {
      expect((await readOutcome(blocks, {}, fields)).message).toMatchObject({
        reasoning_content: 'Hm. Ah.',
        thinking_blocks: [
          { type: 'thinking', thinking: 'Hm. ', signature: 'c2ln' },
          { type: 'redacted_thinking', data: 'AAAA' },
        ],
      })
    }
  })

  test.each([
    ['no output', { stopReason: 'end_turn' }],
    ['no message', { output: {} }],
    ['a call without a name', answered([{ toolUse: { toolUseId: 't' } }])],
    ['an error', { message: 'boom' }],
  ])('an answer with %s is malformed', async (_, body) => {
    const gateway = await bedrockGateway()
    gateway.upstream.always(json(body))
    const response = await waitForAnswer(gateway, gateway.chat(asking()))
    expect((await readError(response))['code']).toBe('LM-3002')
    expect(gateway.upstream.requests).toHaveLength(3)
  })
})
