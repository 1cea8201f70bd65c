import { EventStreamCodec } from '@smithy/eventstream-codec'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toFailure } from '../../src/core/failure.ts'
import {
  AwsEventStream,
  type AwsMessage,
  maxMessageBytes,
} from '../../src/wire/aws-event-stream.ts'
import { awsEvent, awsMessage } from '../support/aws-event-stream.ts'
import { cutsOf, singly } from '../support/pieces.ts'

/** Whole messages by their hexadecimal bytes, checksums included, as the service has sent them. */
const recorded = {
  start:
    '000000760000005296d5fade0b3a6576656e742d7479706507000c6d65737361676553746172740d3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d747970650700056576656e747b22726f6c65223a22617373697374616e74227d6fa8c599',
  delta:
    '0000009f00000057c37babff0b3a6576656e742d74797065070011636f6e74656e74426c6f636b44656c74610d3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d747970650700056576656e747b22636f6e74656e74426c6f636b496e646578223a302c2264656c7461223a7b2274657874223a2248c3a9227d2c2270223a22616263227d2d4de9a2',
  exception:
    '000000b0000000614f5086b30f3a657863657074696f6e2d747970650700137468726f74746c696e67457863657074696f6e0d3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d74797065070009657863657074696f6e7b226d657373616765223a22546f6f206d616e7920746f6b656e732c20706c656173652077616974206265666f726520747279696e6720616761696e2e227df70ae57f',
  error:
    '0000005800000048154692c10d3a6d6573736167652d747970650700056572726f720b3a6572726f722d636f646507000d496e7465726e616c4572726f720e3a6572726f722d6d657373616765070004626f6f6d961cb456',
}

const bytesOf = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'))

interface Read {
  readonly headers: Readonly<Record<string, string>>
  readonly payload: string
}

function plain({ headers, payload }: AwsMessage): Read {
  return { headers: Object.fromEntries(headers), payload: new TextDecoder().decode(payload) }
}

/** What comes of these pieces: messages, and how the stream has failed if it has. */
function read(pieces: readonly Uint8Array[]) {
  const stream = new AwsEventStream()
  const messages: Read[] = []
  try {
    for (const piece of pieces) for (const one of stream.push(piece)) messages.push(plain(one))
  } catch (error) {
    return { messages, failure: toFailure(error) }
  }
  return { messages, whole: stream.isBetweenMessages }
}

describe('recorded messages', () => {
  test.each([
    [
      'start',
      {
        headers: {
          ':event-type': 'messageStart',
          ':content-type': 'application/json',
          ':message-type': 'event',
        },
        payload: '{"role":"assistant"}',
      },
    ],
    [
      'delta',
      {
        headers: {
          ':event-type': 'contentBlockDelta',
          ':content-type': 'application/json',
          ':message-type': 'event',
        },
        payload: '{"contentBlockIndex":0,"delta":{"text":"Hé"},"p":"abc"}',
      },
    ],
    [
      'exception',
      {
        headers: {
          ':exception-type': 'throttlingException',
          ':content-type': 'application/json',
          ':message-type': 'exception',
        },
        payload: '{"message":"Too many tokens, please wait before trying again."}',
      },
    ],
    [
      'error',
      {
        headers: {
          ':message-type': 'error',
          ':error-code': 'InternalError',
          ':error-message': 'boom',
        },
        payload: '',
      },
    ],
  ] as const)('%s', (name, expected) => {
    expect(read([bytesOf(recorded[name])])).toEqual({ messages: [expected], whole: true })
  })
})

describe('a stream', () => {
  const stream = bytesOf(Object.values(recorded).join(''))
  const { messages } = read([stream])

  test('a stream gives the same messages however it is split', () => {
    expect(messages).toHaveLength(4)
    for (const cut of cutsOf(stream)) expect(read(cut)).toEqual({ messages, whole: true })
    expect(read(singly(stream))).toEqual({ messages, whole: true })
  })

  test('each message has its own headers', () => {
    const types = ['aab', 'aab', 'aac', 'aab', 'aabb', '']
    const events = types.map((type) => awsEvent(type, {}))
    const together = new AwsEventStream().push(new Uint8Array(Buffer.concat(events)))
    const alone = events.flatMap((event) => [...new AwsEventStream().push(event)])
    expect([...together].map(plain)).toEqual(alone.map(plain))
  })

  test('a stream that ends within a message is incomplete', () => {
    for (const [head] of cutsOf(bytesOf(recorded.delta))) {
      expect(read([head])).toEqual({ messages: [], whole: false })
    }
  })

  test('a stream decodes as with Amazon’s own codec, with any headers', () => {
    const codec = new EventStreamCodec(
      (bytes) => new TextDecoder().decode(bytes as Uint8Array),
      (text) => new TextEncoder().encode(text),
    )
    const text = fc.string({ unit: 'binary', maxLength: 40 })
    const value = fc.oneof(
      fc.record({ type: fc.constant('string' as const), value: text }),
      fc.record({ type: fc.constant('boolean' as const), value: fc.boolean() }),
      fc.record({ type: fc.constant('byte' as const), value: fc.integer({ min: -128, max: 127 }) }),
      fc.record({ type: fc.constant('short' as const), value: fc.integer({ min: -9, max: 999 }) }),
      fc.record({ type: fc.constant('integer' as const), value: fc.integer() }),
      fc.record({ type: fc.constant('binary' as const), value: fc.uint8Array({ maxLength: 300 }) }),
      fc.record({
        type: fc.constant('timestamp' as const),
        value: fc.date({ noInvalidDate: true }),
      }),
      fc.record({
        type: fc.constant('uuid' as const),
        value: fc.constant('01234567-89ab-cdef-0123-456789abcdef'),
      }),
    )
    const name = fc.string({ minLength: 1, maxLength: 20 }).filter((key) => key !== '__proto__')
    fc.assert(
      fc.property(fc.dictionary(name, value), fc.uint8Array(), (headers, body) => {
        const encoded = codec.encode({ headers, body })
        const [message] = new AwsEventStream().push(encoded)
        const decoded = codec.decode(encoded)
        const strings = Object.entries(decoded.headers).flatMap(([key, header]) =>
          header.type === 'string' ? [[key, header.value]] : [],
        )
        expect(Object.fromEntries(message?.headers ?? [])).toEqual(Object.fromEntries(strings))
        expect(message?.payload).toEqual(decoded.body)
      }),
    )
  })
})

describe('a corrupt stream', () => {
  const good = bytesOf(recorded.start)

  test('a change of any byte ends the stream as closed-early', () => {
    for (let at = 0; at < good.length; at++) {
      const bad = good.slice()
      bad[at] = (bad[at] ?? 0) ^ 0x40
      expect(read([bad, good]), `byte ${at}`).toEqual({
        messages: [],
        failure: { kind: 'closed-early' },
      })
    }
  })

  test('the messages before a corrupt one are still read', () => {
    const bad = awsEvent('metadata', {})
    bad[bad.length - 1] = (bad.at(-1) ?? 0) ^ 1
    const stream = Buffer.concat([good, bad])
    const { messages } = read([good])
    for (const cut of [[stream], ...cutsOf(stream)]) {
      expect(read(cut)).toEqual({ messages, failure: { kind: 'closed-early' } })
    }
  })

  /** A message whose lengths are these, and whose checksums hold. */
  function claiming(total: number, headers: number): Uint8Array {
    const message = awsMessage({}, 'payload')
    const view = new DataView(message.buffer, message.byteOffset)
    view.setUint32(0, total)
    view.setUint32(4, headers)
    view.setUint32(8, crc(message.subarray(0, 8)))
    view.setUint32(message.length - 4, crc(message.subarray(0, -4)))
    return message
  }

  test.each([
    ['too short to be one', 15, 0],
    ['longer than anybody waits for', maxMessageBytes + 1, 0],
    ['longer than there is memory', 0xffffffff, 0],
    ['shorter than its headers', 23, 8],
    ['nothing but headers', 23, 0xffffffff],
  ])('a message that is %s is rejected at its prelude', (_, total, headers) => {
    expect(read([claiming(total, headers).subarray(0, 12)])).toEqual({
      messages: [],
      failure: { kind: 'closed-early' },
    })
  })

  test('a message with correct lengths is read', () => {
    expect(read([claiming(23, 0)]).messages).toEqual([{ headers: {}, payload: 'payload' }])
  })

  test.each([
    ['a name that is too long', [9, 0x61]],
    ['a value that is missing', [1, 0x61]],
    ['a type that does not exist', [1, 0x61, 10, 0]],
    ['a text that is too long', [1, 0x61, 7, 0, 200, 0x61]],
    ['a length that is cut off', [1, 0x61, 7, 0]],
    ['a number that is cut off', [1, 0x61, 5, 0, 0]],
  ])('headers with %s end the stream as closed-early', (_, block) => {
    const message = new Uint8Array(16 + block.length)
    const view = new DataView(message.buffer)
    view.setUint32(0, message.length)
    view.setUint32(4, block.length)
    view.setUint32(8, crc(message.subarray(0, 8)))
    message.set(block, 12)
    view.setUint32(message.length - 4, crc(message.subarray(0, -4)))
    expect(read([message])).toEqual({ messages: [], failure: { kind: 'closed-early' } })
  })
})

test('a long message in small pieces is read in linear time', () => {
  const payload = 'x'.repeat(8 * 1024 * 1024)
  const message = awsMessage({ a: 'b' }, payload)
  const stream = new AwsEventStream()
  const messages: AwsMessage[] = []
  for (let at = 0; at < message.length; at += 1024) {
    messages.push(...stream.push(message.subarray(at, at + 1024)))
  }
  expect(messages).toHaveLength(1)
  expect(messages[0]?.payload).toHaveLength(payload.length)
})

/** CRC-32 by its definition, bit by bit. */
function crc(bytes: Uint8Array): number {
  let value = 0xffffffff
  for (const byte of bytes) {
    value ^= byte
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  }
  return (value ^ 0xffffffff) >>> 0
}
