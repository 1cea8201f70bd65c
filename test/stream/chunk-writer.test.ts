import { expect, test } from 'vitest'
import type { Frame } from '../../src/core/frame.ts'
import { ChunkWriter, createFailedFrame, doneFrame } from '../../src/stream/chunk-writer.ts'
import { decodeText } from '../support/streams.ts'

const identity = { id: 'c1', created: 7, model: 'm' }
const usage = { promptTokens: 2, completionTokens: 3, totalTokens: 5, estimated: false }

/** Parses the chunks in the bytes of a frame. */
function chunksIn({ bytes }: Frame) {
  const events = decodeText(bytes).split('\n\n').slice(0, -1)
  return events.map((event) => JSON.parse(event.replace(/^data: /, '')))
}

const choicesIn = (frame: Frame) => chunksIn(frame).map(({ choices }) => choices[0])

test('the first frame holds a chunk with the role before its content, and later frames do not', () => {
  const writer = new ChunkWriter(identity)
  expect(chunksIn(writer.text('Hi'))).toEqual([
    {
      id: 'c1',
      object: 'chat.completion.chunk',
      created: 7,
      model: 'm',
      choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
    },
    {
      id: 'c1',
      object: 'chat.completion.chunk',
      created: 7,
      model: 'm',
      choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }],
    },
  ])
  expect(choicesIn(writer.text('!'))).toEqual([
    { index: 0, delta: { content: '!' }, finish_reason: null },
  ])
})

test('a frame of text reports the text and its UTF-8 bytes', () => {
  const frame = new ChunkWriter(identity).text('zwölf')
  expect(frame).toMatchObject({ kind: 'content', output: 'zwölf', outputBytes: 6, identity })
})

test('only the first chunk of a tool call has its id, name and type', () => {
  const writer = new ChunkWriter(identity)
  writer.role()
  expect(choicesIn(writer.toolCall({ index: 0, id: 't1', name: 'find' }))[0].delta).toEqual({
    tool_calls: [
      { index: 0, id: 't1', type: 'function', function: { name: 'find', arguments: '' } },
    ],
  })
  expect(choicesIn(writer.toolArguments(0, '{"a"'))[0].delta).toEqual({
    tool_calls: [{ index: 0, function: { arguments: '{"a"' } }],
  })
})

test('signed reasoning does not commit a stream', () => {
  expect(new ChunkWriter(identity).thinking([{ signature: 's' }])).toMatchObject({
    kind: 'quiet',
    outputBytes: 0,
  })
})

test('every choice of a stream has its own role chunk and index', () => {
  const writer = new ChunkWriter(identity)
  writer.role()
  expect(choicesIn(writer.forChoice(1).text('Hi'))).toMatchObject([
    { index: 1, delta: { role: 'assistant' } },
    { index: 1, delta: { content: 'Hi' } },
  ])
})

test('the end of a stream holds the finish reason, the reported usage and the terminator', () => {
  const writer = new ChunkWriter(identity)
  writer.role()
  const [last, done] = writer.finish('length', usage, { native: 'MAX' })
  expect(last).toMatchObject({ usage, hasUnsentUsage: true, finished: 'all' })
  expect(last && choicesIn(last)).toEqual([
    { index: 0, delta: {}, finish_reason: 'length', native: 'MAX' },
  ])
  expect(done).toBe(doneFrame)
})

test('the frame of a failed stream has no bytes and keeps the reported usage', () => {
  const failure = { kind: 'closed-early' } as const
  expect(createFailedFrame(failure, usage)).toMatchObject({ kind: 'error', failure, usage })
  expect(createFailedFrame(failure).bytes).toHaveLength(0)
})
