import { describe, expect, test, vi } from 'vitest'
import type { Clock } from '../../src/index.ts'
import { JoinedChunks } from '../../src/providers/google/joined-chunks.ts'
import { parseGeminiResponse } from '../../src/providers/google/response.ts'
import { getKind } from '../../src/providers/index.ts'
import { CancelScope } from '../../src/wire/cancel-scope.ts'
import { readInSteps, readWhole } from '../../src/wire/json/answer-body.ts'
import { TimeSlice } from '../../src/wire/time-slice.ts'
import { call } from '../fuzz/targets/chat-streams.ts'
import { oneProvider, testGateway } from '../support/gateway.ts'
import { whole } from '../support/scripted-upstream.ts'
import { bindChat } from '../support/translated-kinds.ts'
import { answerAxes } from './answers.ts'
import type { DoorPath } from './bodies.ts'
import {
  type AnswerDoor,
  askForExplanation,
  createKey,
  explainingGateway,
  growthGateway,
  sendBody,
  sendQuestion,
  writeExplainQuestion,
} from './gateway.ts'

/** A clock on which every look at the time takes 10 ms, so that each time slice is over at once. */
class HastyClock implements Clock {
  #time = 0
  #yields = 0

  now(): number {
    return this.#time
  }

  elapsed(): number {
    this.#time += 10
    return this.#time
  }

  schedule(delay: number, fire: () => void) {
    if (delay > 0) return { cancel: () => {} }
    this.#yields++
    const turn = setImmediate(fire)
    return { cancel: () => clearImmediate(turn) }
  }

  /** Returns how often some work yields to the event loop. */
  async countYields(work: () => Promise<unknown>): Promise<number> {
    const before = this.#yields
    await work()
    return this.#yields - before
  }
}

const times = <Item>(count: number, make: (at: number) => Item) =>
  Array.from({ length: count }, (_, at) => make(at))

const message = (at: number) => ({ role: at % 2 ? 'assistant' : 'user', content: 'x' })
const say = (messages: readonly object[]) => ({ max_tokens: 9, messages })
const user = { role: 'user', content: 'x' }
const textBlock = () => ({ type: 'text', text: 'x' })
const tool = (at: number) => ({ type: 'function', name: `f${at}`, parameters: { type: 'object' } })
const longCall = (at: number) => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id: 'c', name: `n${at}`.padEnd(130, 'x'), input: {} }],
})

const textPart = () => ({ text: 'x' })
const turnOf = (at: number) => ({ role: at % 2 ? 'model' : 'user', parts: [textPart()] })

const translated = ['openai', 'anthropic', 'google', 'bedrock', 'cohere']

const requests: readonly {
  readonly door: DoorPath
  readonly things: string
  readonly make: (count: number) => object
  /** The kind of the API itself, which gets the bytes of the client. */
  readonly native?: string
  /** How many of them are handled in one turn, at most. */
  readonly atOnce?: number
}[] = [
  {
    door: 'chat/completions',
    things: 'messages',
    make: (count) => ({ messages: times(count, message) }),
    native: 'openai',
  },
  {
    door: 'messages',
    things: 'messages',
    make: (count) => say(times(count, message)),
    native: 'anthropic',
  },
  {
    door: 'messages',
    things: 'long names of calls',
    make: (count) => say(times(count, longCall)),
    native: 'anthropic',
  },
  { door: 'responses', things: 'items', make: (count) => ({ input: times(count, message) }) },
  {
    door: 'messages',
    things: 'blocks of an answer',
    make: (count) => say([user, { role: 'assistant', content: times(count, textBlock) }, user]),
    native: 'anthropic',
    atOnce: 256,
  },
  {
    door: 'responses',
    things: 'tools',
    make: (count) => ({ input: 'x', tools: times(count, tool) }),
  },
  {
    door: 'responses',
    things: 'tools of a namespace',
    make: (count) => ({
      input: 'x',
      tools: [{ type: 'namespace', name: 'n', tools: times(count, tool) }],
    }),
  },
  {
    door: 'responses',
    things: 'tools that a search has found',
    make: (count) => ({
      input: [
        user,
        { type: 'tool_search_call', call_id: 'c', arguments: {} },
        { type: 'tool_search_output', call_id: 'c', tools: times(count, tool) },
      ],
    }),
  },
  {
    door: 'gemini',
    things: 'contents',
    make: (count) => ({ contents: times(count, (at) => turnOf(at)) }),
    native: 'google',
  },
  {
    door: 'gemini',
    things: 'parts of an answer',
    make: (count) => ({
      contents: [turnOf(0), { role: 'model', parts: times(count, textPart) }, turnOf(0)],
    }),
    native: 'google',
    atOnce: 64,
  },
  {
    door: 'gemini',
    things: 'functions',
    make: (count) => ({
      contents: [turnOf(0)],
      tools: [{ functionDeclarations: times(count, (at) => ({ name: `f${at}` })) }],
    }),
    native: 'google',
  },
  {
    door: 'gemini',
    things: 'properties of an answer',
    make: (count) => ({
      contents: [turnOf(0)],
      generationConfig: {
        responseMimeType: 'application/json',
        responseSchema: {
          type: 'OBJECT',
          properties: Object.fromEntries(times(count, (at) => [`k${at}`, { type: 'STRING' }])),
        },
      },
    }),
    native: 'google',
    atOnce: 64,
  },
]

test.each(
  requests.flatMap(({ native, ...request }) =>
    translated.filter((model) => model !== native).map((model) => ({ ...request, model })),
  ),
)(
  'a request to $door for $model yields the more often, the more $things it has',
  async (request) => {
    const { door, model, make, atOnce = 32 } = request
    const clock = new HastyClock()
    const gateway = await growthGateway({ clock })
    const count = async (size: number) => {
      const body = JSON.stringify({ model, ...make(size) })
      let written = 0
      const yields = await clock.countYields(async () => {
        ;({ written } = await sendBody(gateway, { door, model, body }))
      })
      expect(written).toBeGreaterThan(size)
      return yields
    }
    await count(1000)
    const few = await count(1000)
    const many = await count(5000)
    // Reading the larger body itself takes a few yields more.
    expect(many - few).toBeGreaterThan(4000 / atOnce - 1)
  },
)

const ofText = { type: 'string' }
const members = (count: number, make: (at: number) => object, letter = 'k') =>
  Object.fromEntries(times(count, (at) => [`${letter}${at}`, make(at)]))

test.each<[string, (count: number) => object]>([
  ['properties', (count) => ({ properties: members(count, () => ofText) })],
  [
    'properties that may be null',
    (count) => ({ properties: members(count, () => ({ type: ['string', 'null'] })) }),
  ],
  [
    'properties of properties',
    (count) => ({
      properties: members(count / 10, () => ({ properties: members(10, () => ofText) })),
    }),
  ],
  [
    'lists of properties',
    (count) => ({
      properties: members(count, () => ({ type: 'array', items: ofText })),
    }),
  ],
  [
    'branches',
    (count) => ({
      properties: { a: { anyOf: times(count, (at) => ({ ...ofText, title: `t${at}` })) } },
    }),
  ],
  [
    'branches of branches',
    (count) => ({
      properties: { a: { oneOf: times(count / 10, () => ({ anyOf: times(10, () => ofText) })) } },
    }),
  ],
  [
    'references',
    (count) => ({
      $defs: members(count, () => ofText, 'd'),
      properties: members(count, (at) => ({ $ref: `#/$defs/d${at}` })),
    }),
  ],
])(
  'a request to Gemini with one schema yields the more often, the more %s it has',
  async (_, make) => {
    const clock = new HastyClock()
    const gateway = await growthGateway({ clock })
    const count = async (size: number) => {
      const parameters = { type: 'object', ...make(size) }
      const tools = [{ type: 'function', function: { name: 'f', parameters } }]
      const body = JSON.stringify({ model: 'google', messages: [user], tools })
      let written = 0
      const yields = await clock.countYields(async () => {
        ;({ written } = await sendBody(gateway, {
          door: 'chat/completions',
          model: 'google',
          body,
        }))
      })
      expect(written).toBeGreaterThan(size)
      return yields
    }
    await count(1000)
    const few = await count(1000)
    expect((await count(4000)) - few).toBeGreaterThan(3000 / 256 - 1)
  },
)

test('a function of the Gemini API that is to be strict yields before and after it is made so', async () => {
  const clock = new HastyClock()
  const gateway = await growthGateway({ clock })
  const count = async (mode: string) => {
    const body = JSON.stringify({
      contents: [turnOf(0)],
      tools: [{ functionDeclarations: times(1000, (at) => ({ name: `f${at}` })) }],
      toolConfig: { functionCallingConfig: { mode } },
    })
    return clock.countYields(() => sendBody(gateway, { door: 'gemini', model: 'bedrock', body }))
  }
  await count('AUTO')
  const lenient = await count('AUTO')
  expect((await count('VALIDATED')) - lenient).toBeGreaterThan(1900)
})

const offering = (count: number) => ({
  tools: [
    {
      type: 'function',
      function: {
        name: 'f',
        parameters: { type: 'object', properties: members(count, () => ofText) },
      },
    },
  ],
})

test('a request that the first link cannot express yields while the next one is judged', async () => {
  const clock = new HastyClock()
  const gateway = await growthGateway({ clock })
  const audio = { type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } }
  const messages = [{ role: 'user', content: [audio] }]
  const count = async (size: number) => {
    const body = JSON.stringify({ model: 'chain', messages, ...offering(size) })
    const sending = { door: 'chat/completions', model: 'chain', body } as const
    const yields = await clock.countYields(() => sendBody(gateway, sending))
    expect(new URL(gateway.upstream.requests[0]?.url ?? '').host).toBe('google.test')
    return yields
  }
  await count(1000)
  const few = await count(1000)
  expect((await count(4000)) - few).toBeGreaterThan(3000 / 256 - 1)
})

test('an explanation of a request yields while each link is judged', async () => {
  const clock = new HastyClock()
  const gateway = await explainingGateway({ clock })
  const count = async (size: number) => {
    const body = JSON.stringify({ model: 'chain', messages: [user], ...offering(size) })
    const question = writeExplainQuestion({ door: 'chat/completions', model: 'chain', body })
    let status = 0
    const yields = await clock.countYields(async () => {
      ;({ status } = await askForExplanation(gateway, question))
    })
    expect(status).toBe(200)
    return yields
  }
  await count(1000)
  const few = await count(1000)
  expect((await count(4000)) - few).toBeGreaterThan(3000 / 256 - 1)
})

describe('a request of a key whose limits need an estimate', () => {
  async function openKeyed(fields: object) {
    const clock = new HastyClock()
    const gateway = await explainingGateway({ clock })
    const key = await createKey(gateway, fields)
    return async (size: number) => {
      const body = JSON.stringify({ model: 'chain', messages: [user], ...offering(size) })
      const sending = { door: 'chat/completions', model: 'chain', body, key } as const
      let status = 0
      const yields = await clock.countYields(async () => {
        ;({ status } = await sendBody(gateway, sending))
      })
      return { yields, status }
    }
  }

  test.each([
    ['a limit of tokens', { tpm_limit: 1_000_000_000 }],
    ['a budget', { budget_max: 1_000_000 }],
  ])('yields while each link is estimated: %s', async (_, fields) => {
    const grow = async (send: Awaited<ReturnType<typeof openKeyed>>) => {
      await send(1000)
      const few = await send(1000)
      const many = await send(4000)
      expect(many.status).toBe(503)
      return many.yields - few.yields
    }
    const free = await grow(await openKeyed({}))
    // Of the links, Gemini's makes most steps.
    expect((await grow(await openKeyed(fields))) - free).toBeGreaterThan(3000 / 256 - 1)
  })

  test('is not prepared when it has used up its requests', async () => {
    const send = await openKeyed({ tpm_limit: 1_000_000_000, rpm_limit: 1 })
    const served = await send(4000)
    const refused = await send(4000)
    expect(refused.status).toBe(429)
    expect(refused.yields).toBeLessThan(served.yields / 2)
  })
})

test('what the prices of a long request depend on is read in steps', async () => {
  const clock = new HastyClock()
  const body = JSON.stringify({ model: 'm', messages: times(5000, message) })
  const count = async (prices: string) => {
    const { get, upstream } = await testGateway(`${oneProvider}${prices}`, { clock })
    upstream.always(whole('{}', { status: 400 }))
    const send = () => get('/v1/chat/completions', { method: 'POST', body })
    await send()
    return clock.countYields(send)
  }
  const base = 'cost_per_1m_input = 1\ncost_per_1m_output = 2\n'
  const one = await count(base)
  const many = await count(
    `${base}[[providers.models.prices]]\nabove_input = 100\ncost_per_1m_input = 2\n`,
  )
  expect(many - one).toBeGreaterThanOrEqual(3)
})

test('a long request is refused for its last message by the path of that message', async () => {
  const gateway = await growthGateway({ clock: new HastyClock() })
  const messages = [...times(5000, message), { role: 'other', content: 'x' }]
  const body = JSON.stringify({ model: 'google', ...say(messages) })
  const outcome = await sendBody(gateway, { door: 'messages', model: 'google', body })
  expect(outcome).toMatchObject({ status: 400, written: 0 })
  expect(outcome.body).toContain('messages.5000.role')
})

test.each([
  { door: 'chat/completions', model: 'google', isStream: false },
  { door: 'messages', model: 'openai', isStream: false },
  { door: 'messages', model: 'google', isStream: true },
  { door: 'responses', model: 'openai', isStream: false },
  { door: 'responses', model: 'bedrock', isStream: true },
] as const)(
  'a heavy request to $door for $model is parsed once, also for its answer',
  async ({ door, model, isStream }) => {
    const gateway = await growthGateway()
    const axis = answerAxes.find(
      (other) => other.model === model && other.name === 'calls' && other.isStream === isStream,
    )
    if (!axis) throw new Error('no such axis')
    const content = 'x'.repeat(100_000)
    const body = door === 'responses' ? { input: content } : say([{ role: 'user', content }])
    const parse = vi.spyOn(JSON, 'parse')
    const { status } = await sendQuestion(gateway, { door, axis, answer: axis.make(1), body })
    const parsed = parse.mock.calls.filter(([text]) => text.length > content.length)
    parse.mockRestore()
    expect(status).toBe(200)
    expect(parsed).toHaveLength(1)
  },
)

const answers: readonly (readonly [AnswerDoor, string])[] = [
  ['chat/completions', 'openai'],
  ['chat/completions', 'google'],
  ['messages', 'openai'],
  ['messages', 'anthropic'],
  ['messages', 'bedrock'],
  ['responses', 'openai'],
  ['responses', 'cohere'],
]

test.each(answers)('a long answer at %s yields while it is read, from %s', async (door, model) => {
  const clock = new HastyClock()
  const gateway = await growthGateway({ clock })
  const axis = answerAxes.find(
    (other) => other.model === model && other.name === 'calls' && !other.isStream,
  )
  if (!axis) throw new Error('no such axis')
  const count = async (size: number) => {
    const answer = axis.make(size)
    let status = 0
    const yields = await clock.countYields(async () => {
      ;({ status } = await sendQuestion(gateway, { door, axis, answer }))
    })
    expect(status).toBe(200)
    return yields
  }
  const few = await count(100)
  const many = await count(20_000)
  expect(many - few).toBeGreaterThan(8)
})

test('a long answer yields while its values are counted', async () => {
  const clock = new HastyClock()
  const slice = new TimeSlice(clock, new CancelScope(clock))
  const count = (bytes: number) =>
    clock.countYields(() =>
      readInSteps(Buffer.from(`["${'x'.repeat(bytes / 2)}",${'1,'.repeat(bytes / 4)}1]`), {
        slice,
        maxValues: 1_000_000,
      }),
    )
  const few = await count(200_000)
  const many = await count(4_200_000)
  // It is decoded and parsed in larger steps, which are at most half as many.
  expect(many - few).toBeGreaterThan(2_000_000 / (64 * 1024) + 4_000_000 / (512 * 1024) + 7)
})

test('the texts of a list of events are joined in pieces, and no character is cut', () => {
  const joined = new JoinedChunks()
  const text = times(3000, (at) => `${at} "\\ `.padEnd(500 + (at % 2), '😀x')).join('')
  // The halves of some characters come apart.
  const chunks = (text.match(/[^]{1,977}/g) ?? []).map((piece) => ({
    candidates: [{ content: { parts: [{ text: piece }] } }],
  }))
  for (const chunk of chunks) {
    const json = JSON.stringify(chunk)
    const response = parseGeminiResponse(json, chunk)
    if (!response) throw new Error('no response')
    joined.add(chunk, { response, json })
  }
  const written = [...joined.write()]
  expect(Math.max(...written.map(({ length }) => length))).toBeLessThan(100_000)
  const answer = JSON.parse(written.join('')) as (typeof chunks)[number]
  expect(answer.candidates[0]?.content.parts).toEqual([{ text: text.toWellFormed() }])
})

test.each(['anthropic', 'bedrock', 'cohere', 'google'])(
  'a long answer of %s is translated in steps',
  (model) => {
    const axis = answerAxes.find(
      (other) => other.model === model && other.name === 'calls' && !other.isStream,
    )
    const bytes = Buffer.from(axis?.make(3) ?? '')
    const steps = bindChat(getKind(model))?.parseAnswerInSteps?.(
      readWhole(bytes),
      call,
      () => undefined,
    )
    expect([...(steps ?? [])].length).toBeGreaterThan(3)
  },
)

test('a long answer of several candidates yields between them', async () => {
  const clock = new HastyClock()
  const gateway = await growthGateway({ clock })
  const axis = answerAxes.find(({ name, isStream }) => name === 'candidates' && !isStream)
  if (!axis) throw new Error('no such axis')
  const count = (size: number) =>
    clock.countYields(() =>
      sendQuestion(gateway, { door: 'chat/completions', axis, answer: axis.make(size) }),
    )
  const few = await count(3000)
  expect((await count(4000)) - few).toBeGreaterThan(1000)
})

const streams: readonly (readonly [AnswerDoor, string])[] = [
  ['chat/completions', 'google'],
  ['messages', 'bedrock'],
  ['responses', 'openai'],
]

test.each(streams)(
  'a stream at %s that has arrived already yields, from %s',
  async (door, model) => {
    const clock = new HastyClock()
    const gateway = await growthGateway({ clock })
    const axis = answerAxes.find(
      (other) => other.model === model && other.name === 'calls' && other.isStream,
    )
    if (!axis) throw new Error('no such axis')
    const count = async (size: number) => {
      const answer = axis.make(size)
      const yields = await clock.countYields(() => sendQuestion(gateway, { door, axis, answer }))
      return { yields, pieces: answer.length / (64 * 1024) }
    }
    const few = await count(100)
    const many = await count(3000)
    expect(many.pieces).toBeGreaterThan(5)
    expect(many.yields - few.yields).toBeGreaterThan(many.pieces - few.pieces - 3)
  },
)

test('the end of a long stream on the Responses API yields between the items that it repeats', async () => {
  const clock = new HastyClock()
  const gateway = await growthGateway({ clock })
  const axis = answerAxes.find(
    ({ model, name, isStream }) => model === 'openai' && name === 'calls' && isStream,
  )
  if (!axis) throw new Error('no such axis')
  const ask = (door: AnswerDoor) =>
    clock.countYields(() => sendQuestion(gateway, { door, axis, answer: axis.make(5000) }))
  await ask('responses')
  const verbatim = await ask('chat/completions')
  // Its end has about 800 bytes for each call.
  expect((await ask('responses')) - verbatim).toBeGreaterThan(25)
})

test('a long answer on the Responses API yields between the calls that it writes', async () => {
  const clock = new HastyClock()
  const gateway = await growthGateway({ clock })
  const axis = answerAxes.find(({ model, name }) => model === 'openai' && name === 'calls')
  if (!axis) throw new Error('no such axis')
  const ask = (door: AnswerDoor) =>
    clock.countYields(() => sendQuestion(gateway, { door, axis, answer: axis.make(20_000) }))
  await ask('responses')
  const verbatim = await ask('chat/completions')
  expect((await ask('responses')) - verbatim).toBeGreaterThan(200)
})
