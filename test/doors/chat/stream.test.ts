import { expect, test } from 'vitest'
import type { RequestId } from '../../../src/core/ids.ts'
import { createChatWriter } from '../../../src/doors/chat/stream.ts'
import { doneFrame } from '../../../src/stream/chunk-writer.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { content, decodeText, joinLast } from '../../support/streams.ts'

const usage = { promptTokens: 2, completionTokens: 3, totalTokens: 5, estimated: false }

function writer(wantsUsageChunk: boolean) {
  const requestId = 'r1' as RequestId
  return createChatWriter({ requestId, model: 'm', clock: new ManualClock() }, wantsUsageChunk)
}

/** Parses the usage chunk of a complete stream. */
function usageChunk(wantsUsageChunk: boolean, ...identities: object[]) {
  const written = writer(wantsUsageChunk)
  for (const identity of identities) written.write(content('a', { identity: identity as never }))
  const text = decodeText(joinLast(written.complete(doneFrame, { usage, isInBytes: false })))
  const [chunk = '', done] = text.split('\n\n')
  expect(done).toBe('data: [DONE]')
  return JSON.parse(chunk.replace(/^data: /, ''))
}

test('usage that the client has not read is a chunk before [DONE]', () => {
  expect(usageChunk(true)).toMatchObject({ choices: [], usage: { total_tokens: 5 } })
})

test('a usage chunk that the client did not request has one empty choice', () => {
  expect(usageChunk(false)).toMatchObject({
    choices: [{ index: 0, delta: {}, finish_reason: null }],
    usage: { total_tokens: 5 },
  })
})

test('a usage chunk has the identity of the stream, and made-up parts only where it has none', () => {
  const whole = { id: 'c1', created: 1, model: 'other' }
  expect(usageChunk(true, whole)).toMatchObject(whole)
  const partial = usageChunk(true, { id: 'c1', created: undefined, model: undefined })
  expect(partial).toMatchObject({ id: 'c1', model: 'm', object: 'chat.completion.chunk' })
})

test('usage that the client has read is not repeated', () => {
  expect(writer(true).complete(doneFrame, { usage, isInBytes: true })).toBe(doneFrame.bytes)
})
