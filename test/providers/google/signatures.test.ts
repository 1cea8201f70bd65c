import { describe, expect, test } from 'vitest'
import { asking, called, newerModel, sent, signedBy } from './support.ts'

describe('thought signatures', () => {
  const placeholder = 'skip_thought_signature_validator'
  async function signatures(calls: readonly object[], upstreamId: string) {
    const { contents } = await sent(called(calls, []), { upstreamId })
    return contents[1]?.parts.map(({ thoughtSignature }) => thoughtSignature)
  }

  test.each(['c2lnLTE=', 'a-_b', 'YQ=='])(
    'the signature %s returns to the model unchanged',
    async (value) => {
      expect(await signatures([signedBy(value), {}], 'gemini-3-pro-preview')).toEqual([
        value,
        undefined,
      ])
      expect(await signatures([signedBy(value)], 'gemini-2.5-pro')).toEqual([value])
    },
  )

  test.each([['no base64!'], [7], [''], [null]])(
    'the invalid signature %j is ignored',
    async (value) => {
      expect(await signatures([signedBy(value)], 'gemini-3-pro-preview')).toEqual([placeholder])
      expect(await signatures([signedBy(value)], 'gemini-2.5-pro')).toEqual([undefined])
    },
  )

  test('a signature of a later call does not replace the one of the first call', async () => {
    expect(await signatures([{}, signedBy('YQ==')], 'gemini-3-pro-preview')).toEqual([
      placeholder,
      'YQ==',
    ])
  })

  test.each([
    ['gemini-2.0-flash', undefined],
    ['gemini-3-flash', placeholder],
    ['gemini-flash-latest', placeholder],
    ['tunedModels/mine', undefined],
  ])('%s gets the placeholder %s for a missing signature', async (upstreamId, expected) => {
    expect(await signatures([{}, {}], upstreamId)).toEqual([expected, undefined])
  })

  test('every step of a turn has its own placeholder', async () => {
    const { messages } = called([{}], [{ tool_call_id: 'c0', content: '1' }]) as {
      messages: object[]
    }
    const { contents } = await sent(
      asking({ messages: [...messages, ...messages.slice(1)] }),
      newerModel,
    )
    const found = contents.flatMap(({ parts }) => parts.map((part) => part['thoughtSignature']))
    expect(found.filter(Boolean)).toEqual([placeholder, placeholder])
  })
})
