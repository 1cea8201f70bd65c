import { describe, expect, test } from 'vitest'
import { chunk, completion, done, role } from '../support/answers.ts'
import type { TestGateway } from '../support/gateway.ts'
import { type Responder, stream, whole } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

/* Characters that an upstream of the OpenAI format cuts in half: strict parsers refuse JSON with a half alone. */

const config = `
[[providers]]
name = "p"
kind = "openai"
base_url = "http://up.test/v1"
models = [{ id = "m" }]
`

const doors = [
  { path: '/v1/messages', body: { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 9 } },
  { path: '/v1/responses', body: { input: 'Hi' } },
] as const

/** The two halves of a duck. */
const [first, second] = ['\ud83e', '\udd86']

const textOf = (piece: string) => ({ content: piece })
const thoughtOf = (piece: string) => ({ reasoning_content: piece })
const callOf = (piece: string) => ({
  tool_calls: [
    {
      index: 0,
      ...(piece.startsWith('{') && { id: 'c', type: 'function' }),
      function: { ...(piece.startsWith('{') && { name: 'f' }), arguments: piece },
    },
  ],
})

async function send(
  { get, upstream }: TestGateway,
  { path, body }: (typeof doors)[number],
  answer: Responder,
  isStream = true,
): Promise<string> {
  upstream.next(answer)
  const text = JSON.stringify({ model: 'm', stream: isStream, ...body })
  return (await get(path, { method: 'POST', body: text })).text()
}

/** The stream with these deltas. */
const streamOf = (deltas: readonly object[], finish: string) =>
  stream([role + deltas.map((delta) => chunk(delta)).join('') + chunk({}, {}, finish) + done])

/** An escape of a half that is not followed, or not preceded, by the other one. */
const half = /\\ud[89ab]..(?!\\ud[c-f])|(?<!\\ud[89ab]..)\\ud[c-f]/i

/** All texts of the deltas, joined. */
function joinDeltas(text: string): string {
  return [...text.matchAll(/^data: (.*)$/gm)]
    .map(([, data = '{}']) => JSON.parse(data))
    .filter(({ type }) => type.endsWith('delta'))
    .map(({ delta }) =>
      typeof delta === 'string'
        ? delta
        : (delta.text ?? delta.thinking ?? delta.partial_json ?? ''),
    )
    .join('')
}

describe.each(doors)('at $path', (door) => {
  test.each([
    ['text', [textOf(`a${first}`), textOf(`${second}b`)], 'stop', 'a🦆b'],
    ['text, one half at a time', [textOf(first), textOf(second)], 'stop', '🦆'],
    ['text with an empty piece between', [textOf(first), {}, textOf(second)], 'stop', '🦆'],
    [
      'two characters',
      [textOf(`🦆${first}`), textOf(`${second}${first}`), textOf(second)],
      'stop',
      '🦆🦆🦆',
    ],
    ['reasoning', [thoughtOf(first), thoughtOf(second), textOf('x')], 'stop', '🦆x'],
    ['arguments', [callOf(`{"a":"${first}`), callOf(`${second}"}`)], 'tool_calls', '{"a":"🦆"}'],
    ['a half that is alone', [textOf(`a${first}`), textOf('b')], 'stop', 'a\ufffdb'],
    ['a second half that is alone', [textOf('a'), textOf(`${second}b`)], 'stop', 'a\ufffdb'],
    ['a half at the end', [textOf(`a${first}`)], 'stop', 'a\ufffd'],
    ['a half before a call', [textOf(`a${first}`), callOf('{}')], 'tool_calls', 'a\ufffd{}'],
  ])('the halves in the pieces of a stream are joined: %s', async (_, deltas, finish, expected) => {
    const gateway = await watchedGateway(config)
    const text = await send(gateway, door, streamOf(deltas, finish))
    // The Messages API has no piece for a call without arguments.
    expect(joinDeltas(text).replace(/\{\}$/, '')).toBe(expected.replace(/\{\}$/, ''))
    expect(text).not.toMatch(half)
  })

  test('a half in a whole answer is replaced, and a whole pair stays', async () => {
    const gateway = await watchedGateway(config)
    const answer = JSON.stringify(completion(`${first}a${first}${second}b${second}`))
    const text = await send(gateway, door, whole(answer), false)
    expect(text).toContain('\ufffda🦆b\ufffd')
    expect(text).not.toMatch(half)
  })
})
