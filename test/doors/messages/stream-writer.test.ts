import { MessageStream } from '@anthropic-ai/sdk/lib/MessageStream'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RequestId } from '../../../src/core/ids.ts'
import { runAtOnce } from '../../../src/core/steps.ts'
import { renderAnswer } from '../../../src/doors/messages/answer.ts'
import { messageForms } from '../../../src/doors/messages/forms.ts'
import { MessagesStreamWriter } from '../../../src/doors/messages/stream.ts'
import { decodeBody } from '../../../src/doors/written-answer.ts'
import { doneFrame } from '../../../src/stream/chunk-writer.ts'
import { interleave } from '../../support/interleave.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { openSlice } from '../../support/open-slice.ts'
import { content, decodeText } from '../../support/streams.ts'
import { parseEvents } from './support.ts'

const encoder = new TextEncoder()
const usage = { promptTokens: 2, completionTokens: 3, totalTokens: 5, estimated: false }

/** An answer of the chat API, and one way in which its deltas may arrive. */
interface Streamed {
  readonly message: Readonly<Record<string, unknown>>
  readonly deltas: readonly object[]
  readonly finish: string
}

interface Call {
  readonly id: string
  readonly name: string
  readonly text: string
}

const word = fc.string({
  unit: fc.constantFrom('a', '"', '\\', '{', '}', '🌍', '\n'),
  minLength: 1,
  maxLength: 6,
})
const words = fc.array(word, { maxLength: 4 })

const callAt = (at: number) =>
  fc.record({
    id: fc.constantFrom(`call_${at}`, `functions.f:${at}`),
    name: fc.constantFrom('f', 'g'),
    text: fc.oneof(
      fc.constantFrom('', ' ', '{}', '{ "n": 12345678901234567890 }'),
      fc
        .dictionary(word, fc.oneof(word, fc.integer(), fc.array(word)))
        .map((value) => JSON.stringify(value)),
    ),
  })

/** Reasoning comes first, then the text, then the calls, whose arguments may interleave. */
const streamed: fc.Arbitrary<Streamed> = fc
  .record({
    reasoning: words,
    texts: words,
    calls: fc
      .integer({ min: 0, max: 3 })
      .chain((n) => fc.tuple(...Array.from({ length: n }, (_, at) => callAt(at)))),
    finish: fc.constantFrom('stop', 'tool_calls', 'length', 'content_filter'),
  })
  .chain(({ reasoning, texts, calls, finish }) => {
    const head = [
      ...reasoning.map((text) => ({ reasoning_content: text })),
      ...texts.map((text) => ({ content: text })),
      ...calls.map(({ id, name }, index) => ({
        tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }],
      })),
    ]
    const pieces = calls.map(({ text }: Call, index) =>
      [...text].map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
    )
    const message = {
      content: texts.join('') || null,
      reasoning_content: reasoning.join(''),
      tool_calls: calls.map(({ id, name, text }: Call) => ({
        id,
        type: 'function',
        function: { name, arguments: text },
      })),
    }
    return interleave(pieces).map((rest) => ({ message, deltas: [...head, ...rest], finish }))
  })

function write({ deltas, finish }: Streamed): string {
  const writer = new MessagesStreamWriter({
    requestId: 'r' as RequestId,
    model: 'm',
    clock: new ManualClock(),
  })
  const frames = deltas.map((delta) => content('', { choices: [{ index: 0, delta }] }))
  const last = content('', { choices: [{ index: 0, delta: {}, finish_reason: finish }] })
  const bytes = [...frames, last].map((frame) => decodeText(writer.write(frame)))
  return bytes.join('') + decodeText(writer.complete(doneFrame, { usage, isInBytes: false }))
}

function writeWhole({ message, finish }: Streamed): Uint8Array {
  const choices = [{ index: 0, message, finish_reason: finish }]
  return runAtOnce(renderAnswer({ choices } as never, { usage, model: 'm' }))
}

function renderWhole(answer: Streamed): Record<string, unknown> {
  return JSON.parse(decodeText(writeWhole(answer)))
}

function toStream(whole: Uint8Array): string {
  return decodeBody(messageForms.toStream(whole))
}

async function toWhole(written: string): Promise<string> {
  return decodeBody(await messageForms.toWhole(encoder.encode(written), openSlice()))
}

/** Returns the message to which the official SDK accumulates a stream. */
function accumulate(written: string): ReturnType<MessageStream['finalMessage']> {
  const lines = parseEvents(written).map((event) => `${JSON.stringify(event)}\n`)
  const body = new Blob([lines.join('')]).stream()
  return MessageStream.fromReadableStream(body as never).finalMessage()
}

/** The first event of a text block does not say that it has no citations. */
function withoutCitations(block: object): object {
  return { ...block, citations: undefined }
}

test('a stream accumulates in the official SDK to the whole answer', async () => {
  await fc.assert(
    fc.asyncProperty(streamed, async (answer) => {
      const message = await accumulate(write(answer))
      const { content: blocks, stop_reason, usage: counts } = renderWhole(answer)
      expect(message.content).toEqual((blocks as object[]).map(withoutCitations))
      expect(message.stop_reason).toBe(stop_reason)
      expect(message.usage).toMatchObject(counts as object)
    }),
    { numRuns: 300 },
  )
})

test('a stream that is converted becomes the whole answer, in which large numbers stay exact', async () => {
  await fc.assert(
    fc.asyncProperty(streamed, async (answer) => {
      const converted = await toWhole(write(answer))
      const whole = decodeText(writeWhole(answer))
      const { id: _, ...message } = JSON.parse(converted)
      expect(message).toEqual({ ...renderWhole(answer), id: undefined })
      const numbers = /12345678901234567890/g
      expect(converted.match(numbers)).toEqual(whole.match(numbers))
    }),
    { numRuns: 300 },
  )
})

test('a whole answer that is converted accumulates in the official SDK to itself', async () => {
  await fc.assert(
    fc.asyncProperty(streamed, async (answer) => {
      const body = writeWhole(answer)
      const { content: blocks, ...message } = JSON.parse(decodeText(body))
      const converted = toStream(body)
      const { content: accumulated, ...rest } = await accumulate(converted)
      expect(rest).toMatchObject(message)
      expect(accumulated).toEqual(blocks.map(withoutCitations))
      expect(await toWhole(converted)).toBe(decodeText(body))
    }),
    { numRuns: 300 },
  )
})

test.each([
  ['a stream', write],
  ['a converted answer', (answer: Streamed) => toStream(writeWhole(answer))],
])('%s follows the grammar: dense indexes, one open block, message_stop last', (_, writeStream) => {
  fc.assert(
    fc.property(streamed, (answer) => {
      const events = parseEvents(writeStream(answer)) as { type: string; index?: number }[]
      const names = events.map(({ type }) => type)
      expect(names[0]).toBe('message_start')
      expect(names.slice(-2)).toEqual(['message_delta', 'message_stop'])
      let open: number | undefined
      let next = 0
      for (const { type, index } of events.slice(1, -2)) {
        if (type === 'content_block_start') {
          expect({ open, index }).toEqual({ open: undefined, index: next++ })
          open = index
        } else {
          expect(index).toBe(open)
          if (type === 'content_block_stop') open = undefined
        }
      }
      expect(open).toBeUndefined()
    }),
  )
})
