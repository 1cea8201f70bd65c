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

interface Door {
  readonly path: string
  readonly body: object
}

const doors: readonly Door[] = [
  { path: '/v1/messages', body: { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 9 } },
  { path: '/v1/responses', body: { input: 'Hi' } },
  {
    path: '/v1beta/models/m:streamGenerateContent?alt=sse',
    body: {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: { thinkingConfig: { includeThoughts: true } },
    },
  },
]

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
  { path, body }: Door,
  answer: Responder,
  isStream = true,
): Promise<string> {
  upstream.next(answer)
  const isGemini = 'contents' in body
  const text = JSON.stringify(isGemini ? body : { model: 'm', stream: isStream, ...body })
  const atOnce = path.replace('streamG', 'g').replace('?alt=sse', '')
  return (await get(isStream ? path : atOnce, { method: 'POST', body: text })).text()
}

/** The stream with these deltas. */
const streamOf = (deltas: readonly object[], finish: string) =>
  stream([role + deltas.map((delta) => chunk(delta)).join('') + chunk({}, {}, finish) + done])

/** An escape of a half that is not followed, or not preceded, by the other one. */
const half = /\\ud[89ab]..(?!\\ud[c-f])|(?<!\\ud[89ab]..)\\ud[c-f]/i

/** All texts of the deltas, joined. */
function joinDeltas(text: string): string {
  return [...text.matchAll(/^data: (.*)$/gm)]
    .map(([, data = '{}']) => (data === '[DONE]' ? {} : JSON.parse(data)))
    .flatMap((event) => listParts(event) ?? event)
    .filter(({ type }) => type?.endsWith('delta'))
    .map(({ delta }) =>
      typeof delta === 'string'
        ? delta
        : (delta.text ?? delta.thinking ?? delta.partial_json ?? ''),
    )
    .join('')
}

interface Delta {
  readonly content?: string
  readonly reasoning_content?: string
  readonly tool_calls?: readonly [{ readonly function: { readonly arguments?: string } }]
}

interface Part {
  readonly text?: string
  readonly functionCall?: { readonly args: object }
}

/** The pieces of a chunk of the other APIs, in the form of deltas. */
function listParts(event: {
  readonly choices?: readonly { readonly delta: Delta }[]
  readonly candidates?: readonly { readonly content?: { readonly parts?: readonly Part[] } }[]
}): { type: string; delta: string }[] | undefined {
  const { choices, candidates } = event
  const ofDeltas = choices?.flatMap(({ delta: { content, reasoning_content, tool_calls } }) => [
    reasoning_content,
    content,
    tool_calls?.[0].function.arguments,
  ])
  const parts = candidates?.flatMap(({ content }) => content?.parts ?? [])
  const ofParts = parts?.map(({ text, functionCall: call }) => text ?? JSON.stringify(call?.args))
  const texts = ofDeltas ?? ofParts
  return texts?.map((delta) => ({ type: 'delta', delta: delta ?? '' }))
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

/* At the chat door the bytes of an upstream of the OpenAI format pass. Those of other APIs are written anew. */

const event = (payload: object) => `data: ${JSON.stringify(payload)}\n\n`
const message = { id: 'm', type: 'message', role: 'assistant', content: [], usage: {} }

/** The pieces of a text as each API streams them. */
const apis: Readonly<Record<string, (pieces: readonly string[]) => string>> = {
  anthropic: (pieces) =>
    [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...pieces.map((text) => ({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text },
      })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ]
      .map(event)
      .join(''),
  google: (pieces) =>
    pieces
      .map((text, at) => ({
        candidates: [
          {
            content: { parts: [{ text }] },
            ...(at === pieces.length - 1 && { finishReason: 'STOP' }),
          },
        ],
      }))
      .map(event)
      .join(''),
  cohere: (pieces) =>
    [
      ...pieces.map((text) => ({
        type: 'content-delta',
        index: 0,
        delta: { message: { content: { text } } },
      })),
      { type: 'message-end', delta: { finish_reason: 'COMPLETE' } },
    ]
      .map(event)
      .join(''),
}

const kindConfig = (kind: string) =>
  `[[providers]]\nname = "p"\nkind = "${kind}"\napi_key_env = "P_KEY"\nmodels = [{ id = "m", upstream_id = "m-1" }]`

const chat = { path: '/v1/chat/completions', body: { messages: [{ role: 'user', content: 'Hi' }] } }

describe.each(Object.entries(apis))('a stream of %s', (kind, write) => {
  test.each([
    [[`a${first}`, `${second}b`], 'a🦆b'],
    [[first, second], '🦆'],
    [[`a${first}`, 'b'], 'a\ufffdb'],
    [['a', `${second}b`], 'a\ufffdb'],
    [['a', first], 'a\ufffd'],
  ])('has whole characters of %j', async (pieces, expected) => {
    // What speaks the API of the client gets its bytes.
    const native = kind === 'anthropic' ? '/v1/messages' : kind === 'google' ? '/v1beta' : '-'
    for (const door of [chat, ...doors].filter(({ path }) => !path.startsWith(native))) {
      const gateway = await watchedGateway(kindConfig(kind))
      const text = await send(gateway, door, stream([write(pieces)]))
      expect(joinDeltas(text)).toBe(expected)
      expect(text).not.toMatch(half)
    }
  })
})

describe('a half in a request', () => {
  const words = `\\ud83e \\\\ud83e \\ud83e\\udd86 \\udd86`
  const expected = '\ufffd \\ud83e 🦆 \ufffd'
  const parameters = `{"type":"object","properties":{"a":{"type":"string","description":"${words}"}}}`
  const tool = `{"type":"function","function":{"name":"f","description":"${words}","parameters":${parameters}}}`

  test.each(['anthropic', 'google', 'cohere', 'bedrock'])('to %s is replaced', async (kind) => {
    const gateway = await watchedGateway(kindConfig(kind), {
      env: { P_KEY: 'k', AWS_REGION: 'us-east-1' },
    })
    gateway.upstream.next(whole('{}', { status: 400 }))
    await gateway.chat(
      `{"model":"m","tools":[${tool}],"messages":[{"role":"user","content":"${words}"}]}`,
    )
    const sent = new TextDecoder().decode(gateway.upstream.requests[0]?.body)
    // The prompt, the description of the tool, and that of its parameter.
    expect(sent.split(JSON.stringify(expected).slice(1, -1))).toHaveLength(4)
  })

  test('that the gateway writes for an upstream of the OpenAI format is replaced', async () => {
    const gateway = await watchedGateway(config)
    gateway.upstream.next(whole('{}', { status: 400 }))
    const body = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"${words}"}]}`
    await gateway.get('/v1/messages', { method: 'POST', body })
    expect(gateway.upstream.body()).toMatchObject({ messages: [{ content: expected }] })
  })
})
