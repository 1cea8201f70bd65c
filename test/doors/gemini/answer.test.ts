import { describe, expect, test } from 'vitest'
import {
  chunk,
  completion,
  done,
  hello,
  makeChunk,
  role,
  stop,
  usageChunk,
} from '../../support/answers.ts'
import { json, LiveUpstream, stream } from '../../support/scripted-upstream.ts'
import { StreamReader } from '../../support/stream-client.ts'
import { asking, geminiGateway, links, listParts, parseChunks, post, streaming } from './support.ts'

const array = '/v1beta/models/m:streamGenerateContent'
const thoughts = asking({ generationConfig: { thinkingConfig: { includeThoughts: true } } })

const argue = (index: number, fields: object) => chunk({ tool_calls: [{ index, ...fields }] })
const withCalls = [
  role,
  chunk({ reasoning_content: 'Hm.' }),
  hello,
  argue(0, { id: 'a1', type: 'function', function: { name: 'f', arguments: '' } }),
  argue(1, { id: 'b1', type: 'function', function: { name: 'g', arguments: '{}' } }),
  ...'{"n":12345678901234567890}'
    .split('')
    .map((piece) => argue(0, { function: { arguments: piece } })),
  chunk({}, {}, 'tool_calls'),
  usageChunk,
  done,
]

describe('an answer of another API', () => {
  test('has its text, its reason and its counts', async () => {
    const gateway = await geminiGateway()
    gateway.upstream.next(json(completion('Hello')))
    const response = await post(gateway, asking())
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toEqual({
      candidates: [
        { content: { parts: [{ text: 'Hello' }], role: 'model' }, finishReason: 'STOP', index: 0 },
      ],
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2, totalTokenCount: 11 },
      modelVersion: 'm',
      responseId: expect.stringMatching(/^resp_/),
    })
  })

  test.each([
    ['length', 'MAX_TOKENS'],
    ['content_filter', 'SAFETY'],
    ['tool_calls', 'STOP'],
  ])('that ends with %s ends with %s', async (finish, expected) => {
    const gateway = await geminiGateway()
    const message = { role: 'assistant', content: 'x' }
    const choices = [{ index: 0, message, finish_reason: finish }]
    gateway.upstream.next(json(completion('', { choices })))
    const { candidates } = await (await post(gateway, asking())).json()
    expect(candidates[0].finishReason).toBe(expected)
  })

  const token = (text: string, logprob: number, top: readonly object[] = []) => {
    return { token: text, logprob, bytes: [1], top_logprobs: top }
  }

  test('has the log probabilities of its tokens', async () => {
    const gateway = await geminiGateway()
    const content = [
      token('Hel', -1, [token('Hel', -1), token('Bye', -2.5)]),
      token('lo', -0.5, [token('lo', -0.5)]),
    ]
    const message = { role: 'assistant', content: 'Hello' }
    const choices = [{ index: 0, message, logprobs: { content }, finish_reason: 'stop' }]
    gateway.upstream.next(json(completion('', { choices })))
    const { candidates } = await (await post(gateway, asking())).json()
    expect(candidates[0]).toMatchObject({
      avgLogprobs: -0.75,
      logprobsResult: {
        chosenCandidates: [
          { token: 'Hel', logProbability: -1 },
          { token: 'lo', logProbability: -0.5 },
        ],
        topCandidates: [
          {
            candidates: [
              { token: 'Hel', logProbability: -1 },
              { token: 'Bye', logProbability: -2.5 },
            ],
          },
          { candidates: [{ token: 'lo', logProbability: -0.5 }] },
        ],
      },
    })
  })

  test('has the log probabilities of each chunk, and their average in the last', async () => {
    const cached = links.replace('id = "m",', 'id = "m", cache = true,')
    const gateway = await geminiGateway(`${cached}\n[cache]\nenabled = true\n`)
    const piece = (text: string, logprob: number) =>
      makeChunk({
        choices: [
          { index: 0, delta: { content: text }, logprobs: { content: [token(text, logprob)] } },
        ],
      })
    gateway.upstream.next(
      stream([role, piece('Hel', -1), piece('lo', -0.5), chunk({}, {}, 'stop'), done]),
    )
    const chunks = parseChunks(await (await post(gateway, asking(), { path: streaming })).text())
    const chosen = (text: string, logProbability: number) => {
      return { chosenCandidates: [{ token: text, logProbability }] }
    }
    expect(chunks).toMatchObject([
      { candidates: [{ logprobsResult: chosen('Hel', -1) }] },
      { candidates: [{ logprobsResult: chosen('lo', -0.5) }] },
      { candidates: [{ avgLogprobs: -0.75, finishReason: 'STOP' }] },
    ])
    const whole = await post(gateway, asking())
    expect(whole.headers.get('x-gateway-cache')).toBe('hit')
    const [candidate] = (await whole.json()).candidates
    expect(candidate).toMatchObject({
      avgLogprobs: -0.75,
      logprobsResult: {
        chosenCandidates: [
          { token: 'Hel', logProbability: -1 },
          { token: 'lo', logProbability: -0.5 },
        ],
      },
    })
  })

  test('shows thoughts to clients that ask for them alone', async () => {
    const choices = [
      {
        index: 0,
        message: { role: 'assistant', content: 'x', reasoning_content: 'Hm.' },
        finish_reason: 'stop',
      },
    ]
    const gateway = await geminiGateway()
    gateway.upstream.always(json(completion('', { choices })))
    const shown = await (await post(gateway, thoughts)).json()
    const hidden = await (await post(gateway, asking())).json()
    expect(listParts(shown)[0]).toEqual({ text: 'Hm.', thought: true })
    expect(listParts(hidden).map(({ text }) => text)).toEqual(['x'])
  })
})

describe('a stream of another API', () => {
  test('has whole calls, and the reason with the counts in its last chunk', async () => {
    const gateway = await geminiGateway()
    gateway.upstream.next(stream(withCalls))
    const response = await post(gateway, thoughts, { path: streaming })
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const text = await response.text()
    const chunks = parseChunks(text)
    expect(listParts(...chunks)).toMatchObject([
      { text: 'Hm.', thought: true },
      { text: 'Hello' },
      { functionCall: { id: 'a1', name: 'f' } },
      { functionCall: { id: 'b1', name: 'g', args: {} } },
    ])
    expect(text).toContain('"args":{"n":12345678901234567890}')
    expect(chunks.filter((each) => 'usageMetadata' in each)).toEqual([chunks.at(-1)])
    expect(chunks.at(-1)).toMatchObject({
      candidates: [{ finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2, totalTokenCount: 11 },
    })
    expect(text).not.toContain('[DONE]')
  })

  test('has a reason to end even where the upstream gives none', async () => {
    const gateway = await geminiGateway()
    gateway.upstream.next(stream([role, hello, done]))
    const text = await (await post(gateway, asking(), { path: streaming })).text()
    expect(parseChunks(text).at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP' }] })
  })

  test.each([streaming, array])('is one line for each chunk at %s', async (path) => {
    const gateway = await geminiGateway()
    const text = 'a\n\nb,\r\ndata: c\u2028d\u0085'
    const args = '{\r\n  "n": 12345678901234567890,\n\n  "t": ",\\r\\ndata: "\n}'
    gateway.upstream.next(
      stream([
        chunk({ content: text }),
        argue(0, { id: 'a', function: { name: 'f', arguments: args } }),
        stop,
        done,
      ]),
    )
    const sent = await (await post(gateway, asking(), { path })).text()
    const chunks = path === array ? JSON.parse(sent) : parseChunks(sent)
    expect(listParts(...chunks)).toEqual([
      { text },
      { functionCall: { id: 'a', name: 'f', args: JSON.parse(args) } },
    ])
    expect(sent).toContain('"n":12345678901234567890')
    const ends = sent.match(/[\r\n\u0085\u2028]+/g)
    expect(ends).toEqual(path === array ? ['\r\n', '\n'] : ['\n\n', '\n\n'])
  })

  test('joins the pieces of calls that have ids alone', async () => {
    const gateway = await geminiGateway()
    const piece = (id: string, name: string, text: string) =>
      chunk({ tool_calls: [{ id, function: { ...(name && { name }), arguments: text } }] })
    gateway.upstream.next(
      stream([
        piece('a', 'f', '{"x":'),
        piece('b', 'g', '{"y":'),
        piece('a', '', '1}'),
        piece('b', 'g', '2}'),
        stop,
        done,
      ]),
    )
    const response = await post(gateway, asking(), { path: streaming })
    expect(listParts(...parseChunks(await response.text()))).toEqual([
      { functionCall: { id: 'a', name: 'f', args: { x: 1 } } },
      { functionCall: { id: 'b', name: 'g', args: { y: 2 } } },
    ])
  })

  test('is a JSON array for a client that does not ask for events', async () => {
    const gateway = await geminiGateway()
    gateway.upstream.next(stream([role, hello, stop, usageChunk, done]))
    const response = await post(gateway, asking(), { path: array })
    expect(response.headers.get('content-type')).toBe('application/json')
    const text = await response.text()
    expect(text.at(-1)).toBe(']')
    expect(listParts(...JSON.parse(text)).map((part) => part.text)).toEqual(['Hello', ''])
  })

  test.each([
    [streaming, '\n\n'],
    [array, '\n'],
  ])('that is silent has heartbeats that every client takes: %s', async (path, expected) => {
    const gateway = await geminiGateway()
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    live.push(role + hello)
    const reader = new StreamReader(await post(gateway, asking(), { path }))
    await reader.next()
    const next = reader.next()
    await gateway.clock.advance(15_000)
    expect(await next).toBe(expected)
    live.push(stop + done)
    live.end()
    const rest = await reader.rest()
    expect(path === array ? rest.endsWith('\n]') : parseChunks(rest).length).toBeTruthy()
  })

  test.each([streaming, array])('that fails says why, and breaks off: %s', async (path) => {
    const gateway = await geminiGateway()
    gateway.upstream.next(
      stream([role, hello], { failure: { kind: 'closed-early', reason: undefined } }),
    )
    const response = await post(gateway, asking(), { path })
    const reader = response.body?.getReader()
    let text = ''
    const reading = async () => {
      for (;;) {
        const { done: isDone, value } = (await reader?.read()) ?? { done: true }
        if (isDone || !value) return
        text += new TextDecoder().decode(value)
      }
    }
    await expect(reading()).rejects.toThrow('the stream has failed')
    const last = path === array ? JSON.parse(`${text}]`).at(-1) : parseChunks(text).at(-1)
    expect(last).toMatchObject({ error: { code: 502, status: 'UNAVAILABLE' } })
  })
})
