import assert from 'node:assert/strict'
import { EventStreamCodec } from '@smithy/eventstream-codec'
import { AwsEventStream } from '../../../src/wire/aws-event-stream.ts'
import { crc32 } from '../../../src/wire/crc32.ts'
import { awsEvent, awsException, awsMessage } from '../../support/aws-event-stream.ts'
import { attempt, type FuzzTarget, splitInput } from '../target.ts'
import { isUpstreamFault } from './faults.ts'

/** The messages are those of Amazon's own codec, however the bytes are split. */
export const awsEventStream: FuzzTarget = {
  seeds: [
    awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hé' } }),
    awsException('throttlingException', { message: 'slow down' }),
    Buffer.concat([awsMessage({}, 'x'), awsMessage({ a: 'b' }), awsMessage({ a: 'b' }, '{}')]),
  ],
  words: ['\u0007\u0000\u0001', '\u0000\u0000\u0000\u0010', ':event-type', '\u0006\u0000\u0002'],
  check(input) {
    const { whole, pieces } = splitInput(withChecksums(input))
    const own = read([whole])
    assert.deepEqual(read(pieces), own)
    const expected = readByCodec(whole)
    // The codec does not notice a header that goes on behind the last one.
    if (own.end === 'corrupt') expected.messages.splice(own.messages.length)
    assert.deepEqual(own, own.end === 'corrupt' ? { ...expected, end: 'corrupt' } : expected)
  },
}

interface Message {
  readonly headers: readonly (readonly [string, string])[]
  readonly payload: string
}

interface Outcome {
  readonly messages: Message[]
  readonly end: 'between messages' | 'within a message' | 'corrupt'
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

function read(pieces: readonly Uint8Array[]): Outcome {
  const stream = new AwsEventStream()
  const messages: Message[] = []
  const outcome = attempt(() => {
    for (const piece of pieces) {
      for (const { headers, payload } of stream.push(piece)) {
        messages.push({ headers: [...headers].sort(), payload: hex(payload) })
      }
    }
    return stream.isBetweenMessages ? 'between messages' : 'within a message'
  }, isUpstreamFault)
  return { messages, end: 'value' in outcome ? outcome.value : 'corrupt' }
}

const codec = new EventStreamCodec(
  (bytes) => new TextDecoder().decode(bytes as Uint8Array),
  (text) => new TextEncoder().encode(text),
)

function readByCodec(bytes: Uint8Array): Outcome {
  const messages: Message[] = []
  for (const message of listMessages(bytes)) {
    if (message === 'incomplete') return { messages, end: 'within a message' }
    try {
      const { headers, body } = codec.decode(message)
      const strings = Object.entries(headers).flatMap(([name, { type, value }]) =>
        type === 'string' ? [[name, value] as const] : [],
      )
      messages.push({ headers: strings.sort(), payload: hex(body) })
    } catch {
      return { messages, end: 'corrupt' }
    }
  }
  return { messages, end: 'between messages' }
}

/** Lists the messages by their announced lengths; one with an impossible length is given as it is. */
function* listMessages(bytes: Uint8Array): Generator<Uint8Array | 'incomplete'> {
  for (let rest = bytes; rest.length > 0; ) {
    if (rest.length < 12) return yield 'incomplete'
    const length = viewOf(rest).getUint32(0)
    const isPossible = length >= 16 && viewOf(rest).getUint32(4) <= length - 16
    if (!isPossible || viewOf(rest).getUint32(8) !== crc32(rest.subarray(0, 8))) {
      return yield rest.subarray(0, 12)
    }
    if (length > rest.length) return yield 'incomplete'
    yield rest.subarray(0, length)
    rest = rest.subarray(length)
  }
}

/** Corrects the checksums of all messages, and lengths that are too long, so that most of them are read. */
export function withChecksums(input: Uint8Array): Uint8Array {
  const bytes = input.slice()
  for (let at = 0; at + 16 <= bytes.length; ) {
    const view = viewOf(bytes.subarray(at))
    const length = Math.max(16, view.getUint32(0) % 4096)
    view.setUint32(0, length)
    if (view.getUint32(4) > length) view.setUint32(4, view.getUint32(4) % (length - 15))
    view.setUint32(8, crc32(bytes.subarray(at, at + 8)))
    const end = at + length
    if (end <= bytes.length) {
      view.setUint32(length - 4, crc32(bytes.subarray(at, end - 4)))
    }
    at = end
  }
  return bytes
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}
