import * as fc from 'fast-check'
import { ResponseStream } from 'openai/lib/responses/ResponseStream'
import { describe, expect, test } from 'vitest'
import type { RequestId } from '../../../src/core/ids.ts'
import { runAtOnce } from '../../../src/core/steps.ts'
import { renderAnswer } from '../../../src/doors/responses/answer.ts'
import { responseForms } from '../../../src/doors/responses/forms.ts'
import { ResponsesStreamWriter } from '../../../src/doors/responses/stream.ts'
import type { ToolIdentity } from '../../../src/doors/responses/tools.ts'
import { decodeBody } from '../../../src/doors/written-answer.ts'
import { doneFrame } from '../../../src/stream/chunk-writer.ts'
import { chunk, completion, done, hello, role, usageChunk } from '../../support/answers.ts'
import { interleave } from '../../support/interleave.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { openSlice } from '../../support/open-slice.ts'
import { json, LiveUpstream, stream } from '../../support/scripted-upstream.ts'
import { content, decodeText, joinLast } from '../../support/streams.ts'
import { finalResponse, responsesGateway, withoutIds } from './support.ts'

const usage = { promptTokens: 2, completionTokens: 3, totalTokens: 5, estimated: false }

const tools: readonly ToolIdentity[] = [
  { type: 'function', namespace: undefined, name: 'plain' },
  { type: 'custom', namespace: 'n', name: 'patch' },
]
const base = {
  echo: '"tools":[]',
  names: new Map([
    ['plain', tools[0]],
    ['n___patch', tools[1]],
  ]),
}

interface Call {
  readonly id: string
  readonly name: string
  readonly text: string
}

/** An answer of the chat API, and one way in which its deltas may arrive. */
interface Streamed {
  readonly message: Readonly<Record<string, unknown>>
  readonly deltas: readonly object[]
  readonly finish: string
}

const word = fc.string({
  unit: fc.constantFrom('a', '"', '\\', '🌍', '\n'),
  minLength: 1,
  maxLength: 6,
})
const words = fc.array(word, { maxLength: 4 })

const callOf = (at: number) =>
  fc.record({
    id: fc.constant(`call_${at}`),
    name: fc.constantFrom('plain', 'n___patch', 'other'),
    text: fc.oneof(
      word,
      word.map((text) => JSON.stringify({ input: text })),
      fc.constant(''),
    ),
  })

/** Reasoning comes first, then the first text, then the calls; after that texts and calls may alternate. */
const streamed: fc.Arbitrary<Streamed> = fc
  .record({
    reasoning: words,
    texts: words,
    refusals: fc.array(word, { maxLength: 2 }),
    calls: fc
      .integer({ min: 0, max: 3 })
      .chain((n) => fc.tuple(...Array.from({ length: n }, (_, at) => callOf(at)))),
    finish: fc.constantFrom('stop', 'tool_calls', 'length', 'content_filter'),
  })
  .chain(({ reasoning, texts, refusals, calls, finish }) => {
    const [first, ...moreTexts] = texts
    const starts = calls.map(({ id, name }, index) => ({
      tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }],
    }))
    const later: object[][] = [
      first === undefined ? [] : moreTexts.map((text) => ({ content: text })),
      ...calls.map(({ text }: Call, index) =>
        [...text].map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
      ),
    ]
    const head = [
      ...reasoning.map((text) => ({ reasoning_content: text })),
      ...(first === undefined ? [] : [{ content: first }]),
      ...refusals.map((text) => ({ refusal: text })),
      ...starts,
    ]
    const message = {
      content: texts.join('') || null,
      reasoning_content: reasoning.join(''),
      refusal: refusals.join('') || null,
      tool_calls: calls.map(({ id, name, text }: Call) => ({
        id,
        type: 'function',
        function: { name, arguments: text },
      })),
    }
    return interleave(later).map((rest) => ({ message, deltas: [...head, ...rest], finish }))
  })

function write({ deltas, finish }: Streamed): string {
  const context = { requestId: 'r' as RequestId, model: 'm', clock: new ManualClock() }
  const writer = new ResponsesStreamWriter(context, base as never)
  const frames = deltas.map((delta) => content('', { choices: [{ index: 0, delta }] }))
  const last = content('', { choices: [{ index: 0, delta: {}, finish_reason: finish }] })
  const bytes = [...frames, last].map((frame) => decodeText(writer.write(frame)))
  return (
    bytes.join('') + decodeText(joinLast(writer.complete(doneFrame, { usage, isInBytes: false })))
  )
}

function writeWhole({ message, finish }: Streamed): Uint8Array {
  return runAtOnce(
    renderAnswer({
      ...(base as never as { echo: string; names: Map<string, ToolIdentity> }),
      choices: [{ index: 0, message, finish_reason: finish }],
      served: { usage, model: 'm' },
      createdAt: 1,
      completedAt: 2,
    }),
  )
}

function renderWhole(answer: Streamed): unknown {
  return JSON.parse(decodeText(writeWhole(answer)))
}

function toStream(whole: Uint8Array): string {
  return decodeBody(responseForms.toStream(whole))
}

async function toWhole(written: string): Promise<string> {
  return decodeBody(await responseForms.toWhole(new TextEncoder().encode(written), openSlice()))
}

function parseEvents(text: string): { type: string; response?: object }[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .map((block) => JSON.parse(block.replace(/^.*\ndata: /, '')))
}

describe('a translated stream', () => {
  test('accumulates in the official SDK to the response of the whole answer', async () => {
    await fc.assert(
      fc.asyncProperty(streamed, async (answer) => {
        const events = parseEvents(write(answer))
        expect(
          events.map((event) => (event as never as { sequence_number: number }).sequence_number),
        ).toEqual([...events.keys()])
        const whole = withoutIds(renderWhole(answer))
        expect(withoutIds(events.at(-1)?.response)).toEqual(whole)
        const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('')
        const helper = ResponseStream.fromReadableStream(new Blob([lines]).stream() as never)
        expect(withoutIds(await helper.finalResponse())).toMatchObject({
          output: (whole as { output: object[] }).output,
        })
      }),
      { numRuns: 150 },
    )
  })

  test('becomes the whole answer when it is converted', async () => {
    await fc.assert(
      fc.asyncProperty(streamed, async (answer) => {
        const written = write(answer)
        const converted = await toWhole(written)
        expect(JSON.parse(converted)).toEqual(parseEvents(written).at(-1)?.response)
        expect(withoutIds(JSON.parse(converted))).toEqual(withoutIds(renderWhole(answer)))
      }),
      { numRuns: 150 },
    )
  })

  test.each([
    ['was streamed', write],
    ['was whole', (answer: Streamed) => toStream(writeWhole(answer))],
  ])('has items that are what their events have said, when it %s', (_, writeStream) => {
    fc.assert(
      fc.property(streamed, (answer) => {
        const events = parseEvents(writeStream(answer)) as never as Record<string, unknown>[]
        const dones = events.filter(({ type }) => type === 'response.output_item.done')
        const final = events.at(-1)?.['response'] as { output: unknown[] }
        const sorted = dones.toSorted(
          (a, b) => Number(a['output_index']) - Number(b['output_index']),
        )
        expect(sorted.map(({ item }) => item)).toEqual(final.output)
      }),
    )
  })
})

test('a whole answer that is converted accumulates in the official SDK to itself', async () => {
  await fc.assert(
    fc.asyncProperty(streamed, async (answer) => {
      const body = writeWhole(answer)
      const whole = JSON.parse(decodeText(body))
      const converted = toStream(body)
      const events = parseEvents(converted)
      expect(events.map((event) => Object(event).sequence_number)).toEqual([...events.keys()])
      expect(events[0]?.response).toMatchObject({ id: whole.id, output: [], usage: null })
      const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('')
      const helper = ResponseStream.fromReadableStream(new Blob([lines]).stream() as never)
      expect(await helper.finalResponse()).toMatchObject(whole)
      expect(await toWhole(converted)).toBe(decodeText(body))
    }),
    { numRuns: 150 },
  )
})

describe('the end of an answer', () => {
  test.each([
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ])('%s makes it incomplete', async (finish, reason) => {
    const { upstream, ask, stream: streamEvents } = await responsesGateway()
    const message = { role: 'assistant', content: 'Hello' }
    const choices = [{ index: 0, message, finish_reason: finish }]
    upstream.next(json(completion('', { choices })), stream([hello, chunk({}, {}, finish), done]))
    const expected = {
      status: 'incomplete',
      incomplete_details: { reason },
      completed_at: null,
      output: [{ type: 'message', status: 'incomplete' }],
    }
    expect(await ask({ input: 'Hi' })).toMatchObject(expected)
    const events = await streamEvents({ input: 'Hi' })
    expect(events.at(-1)?.type).toBe('response.incomplete')
    expect(finalResponse(events)).toMatchObject(expected)
  })

  test('an answer without text or calls has an empty message', async () => {
    const { upstream, ask } = await responsesGateway()
    upstream.next(json(completion('')))
    expect((await ask({ input: 'Hi' })).output).toMatchObject([
      { type: 'message', content: [{ type: 'output_text', text: '' }] },
    ])
  })

  test('the usage after the finish reason is that of the response', async () => {
    const { upstream, stream: streamEvents } = await responsesGateway()
    upstream.next(stream([role, hello, chunk({}, {}, 'stop'), usageChunk, done]))
    const { usage: reported } = finalResponse(await streamEvents({ input: 'Hi' }))
    expect(reported).toMatchObject({ input_tokens: 9, output_tokens: 2 })
    expect(reported).not.toHaveProperty('estimated')
  })

  test('usage that is missing is estimated', async () => {
    const { upstream, stream: streamEvents } = await responsesGateway()
    upstream.next(stream([hello, chunk({}, {}, 'stop'), done]))
    const { usage: estimate } = finalResponse(await streamEvents({ input: 'Hi' }))
    expect(estimate).toMatchObject({ output_tokens: 2, estimated: true })
  })
})

test('the heartbeat is a comment with one line end', async () => {
  const { upstream, send, clock } = await responsesGateway()
  const live = new LiveUpstream()
  upstream.next(live.responder)
  live.push(hello)
  const response = await send({ input: 'Hi', stream: true })
  const text = response.text()
  await clock.advance(15_000)
  live.push(chunk({}, {}, 'stop') + done)
  live.end()
  expect(await text).toMatch(/\n\n: ping\nevent: response\./)
})
