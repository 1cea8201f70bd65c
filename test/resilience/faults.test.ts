import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { UpstreamFault } from '../../src/core/failure.ts'
import {
  completion,
  done,
  hello,
  makeChunk,
  role,
  stop,
  usageChunk,
  wholeStream,
} from '../support/answers.ts'
import { makeChain } from '../support/chain.ts'
import { expectErrorShape } from '../support/contract.ts'
import type { TestGateway } from '../support/gateway.ts'
import { json, type Responder, stream, whole } from '../support/scripted-upstream.ts'
import { readStream, settlement, streamed, terminal } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

/** One link with two attempts: the upstream fails once and then answers. */
const config = makeChain(
  [{}],
  'retry_base_ms = 0\nretry_max_attempts = 2\ncircuit_failure_threshold = 100000',
)
/** Two links with one attempt each, so that no retry waits. */
const twoLinks = makeChain([{}, {}], 'retry_max_attempts = 1\ncircuit_failure_threshold = 100000')
const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
const answerText = JSON.stringify(completion())
const answer = whole(answerText)
const utf8 = (text: string) => new TextEncoder().encode(text)

/** A response with these bytes, after which the connection fails. */
const cutOff =
  (sent: Uint8Array, type: string, status = 200): Responder =>
  async () => {
    let read = 0
    return {
      status,
      header: (name) => (name === 'content-type' ? type : undefined),
      body: {
        read: async () => {
          if (read++ === 0 && sent.length > 0) return sent
          throw new UpstreamFault({ kind: 'network', reason: 'ECONNRESET' })
        },
        cancel: () => {},
        drain: () => {},
      },
    }
  }

async function sendChat({ chat, clock }: TestGateway, body: object): Promise<Response> {
  const pending = chat(body, { headers: { 'x-request-id': 'fixed' } })
  await clock.advance(0)
  return pending
}

async function sendStreamed(gateway: TestGateway): Promise<string> {
  const pending = readStream(gateway)
  await gateway.clock.advance(0)
  return pending
}

describe('a whole answer', () => {
  test('an answer reset after any number of bytes is requested again', async () => {
    const gateway = await watchedGateway(twoLinks)
    const sent = utf8(answerText)
    for (let at = 0; at <= sent.length; at++) {
      gateway.upstream.next(cutOff(sent.subarray(0, at), 'application/json'), answer)
      const response = await gateway.chat(request)
      expect(await response.text()).toBe(answerText)
      expect(settlement(gateway.log.splice(0))).toMatchObject({ status: 200, attempts: 2 })
    }
  })

  test('an answer that ends cleanly before its end is requested again', async () => {
    const gateway = await watchedGateway(twoLinks)
    for (let at = 0; at < answerText.length; at++) {
      gateway.upstream.next(whole(answerText.slice(0, at)), answer)
      const response = await gateway.chat(request)
      expect(await response.text()).toBe(answerText)
      expect(settlement(gateway.log.splice(0))).toMatchObject({ status: 200, attempts: 2 })
    }
  })

  const broken: readonly (readonly [string, Responder])[] = [
    [
      'HTML',
      whole('<!DOCTYPE html><title>Welcome</title>', { headers: { 'content-type': 'text/html' } }),
    ],
    ['plain text', whole('OK')],
    ['NUL bytes', whole(new Uint8Array(1000))],
    ['noise', whole(new Uint8Array(1000).map((_, at) => (at * 7919) % 256))],
    ['unrequested gzip', whole(gzipSync(answerText), { headers: { 'content-encoding': 'gzip' } })],
    ['two answers in a row', whole(answerText + answerText)],
    ['null', whole('null')],
    ['a number', whole('1e400')],
    ['an array', whole(`[${answerText}]`)],
    ['an object without choices', whole('{}')],
    ['choices that are not an array', whole('{"choices":{"0":{}}}')],
    ['null as choices', whole('{"choices":null}')],
    ['an event stream', whole(wholeStream, { headers: { 'content-type': 'text/event-stream' } })],
    ['an error without a status', json({ error: { message: 'boom', code: 'x' } })],
    ['an error as text', json({ error: 'boom' })],
    ['an error with a server status', json({ error: { message: 'boom', code: 503 } })],
    ['the answer of an unknown route', json({ error: 'Unexpected endpoint or method. (POST /)' })],
    ['deep nesting', whole('['.repeat(200_000))],
  ]
  test.each(broken)('an answer that is %s with status 200 is requested again', async (_, first) => {
    const gateway = await watchedGateway(config)
    gateway.upstream.next(first, answer)
    const response = await sendChat(gateway, request)
    expect(await response.text()).toBe(answerText)
  })

  test.each(broken)(
    'an answer that is %s every time ends as 502, without markup',
    async (_, every) => {
      const gateway = await watchedGateway(config)
      gateway.upstream.always(every)
      const response = await sendChat(gateway, request)
      expect(response.status).toBe(502)
      const error = await expectErrorShape(response)
      expect(['LM-3002', 'LM-3003']).toContain(error.code)
      expect(error.message).not.toMatch(/[<>\0]/)
    },
  )

  test('an answer of an odd shape may still be valid', async () => {
    const odd = [
      '{"choices":[{"message":{},"finish_reason":"stop"}],"error":null}',
      '{"choices":[{"message":{"content":[]},"finish_reason":"stop"},{}]}',
      '{"choices":[null,{"message":null},{"message":{"content":7,"tool_calls":[null,{"function":7}]}}]}',
      `\n\n\t ${answerText}`,
      `${answerText}\r\n`,
    ]
    const gateway = await watchedGateway(config)
    for (const text of odd) {
      gateway.upstream.next(whole(text))
      expect((await sendChat(gateway, request)).status).toBe(200)
    }
  })

  test('an answer over 64 MiB is not buffered', async () => {
    const gateway = await watchedGateway(config)
    let pulled = 0
    gateway.upstream.always(async () => {
      let open = true
      return {
        status: 200,
        header: () => 'application/json',
        body: {
          read: async () => {
            if (!open) return undefined
            pulled++
            return new Uint8Array(2 ** 20)
          },
          cancel: () => {
            open = false
          },
          drain: () => {},
        },
      }
    })
    const error = await expectErrorShape(await sendChat(gateway, request))
    expect(error.code).toBe('LM-3002')
    expect(pulled).toBeLessThan(2 * 70)
  })
})

describe('every status', () => {
  const sent = Array.from({ length: 500 }, (_, at) => at + 100)
  const isClients = (status: number) =>
    status >= 400 && status < 500 && ![401, 402, 403, 407, 408, 429].includes(status)

  test('every status means what the documentation says', async () => {
    const gateway = await watchedGateway(config)
    for (const status of sent) {
      if (status >= 200 && status < 300) continue
      gateway.upstream.always(json({}, { status }))
      const response = await sendChat(gateway, request)
      const { code } = await expectErrorShape(response)
      const line = settlement(gateway.log.splice(0))
      if (status === 413) {
        // The prompt does not fit the model.
        expect([response.status, code, line['attempts']]).toEqual([400, 'LM-2012', 1])
      } else if (isClients(status)) {
        expect([response.status, code, line['attempts']]).toEqual([status, 'LM-3003', 1])
      } else if ([401, 402, 403, 407].includes(status)) {
        expect([response.status, code, line['attempts']]).toEqual([502, 'LM-3003', 1])
      } else if (status === 429) {
        expect([response.status, code, line['attempts']]).toEqual([429, 'LM-3001', 2])
      } else if (status === 408) {
        expect([response.status, code, line['attempts']]).toEqual([504, 'LM-3005', 2])
      } else {
        expect([response.status, code, line['attempts']]).toEqual([502, 'LM-3003', 2])
      }
    }
  })

  test.each([
    ['HTML', '<html><body>nginx</body></html>'],
    ['nothing', ''],
    ['noise', new Uint8Array([0xff, 0x00, 0xfe, 0x80])],
    ['a truncated object', '{"error":{"mess'],
    ['a megabyte', 'x'.repeat(2 ** 20)],
    ['null', 'null'],
    ['gzip', gzipSync('{"error":{"message":"boom"}}')],
  ])('a status with %s as its body is an ordinary error', async (_, body) => {
    const gateway = await watchedGateway(config)
    for (const status of [400, 500]) {
      gateway.upstream.always(whole(body, { status }))
      const response = await sendChat(gateway, request)
      expect(response.status).toBe(status === 400 ? 400 : 502)
      const error = await expectErrorShape(response)
      expect(error.code).toBe('LM-3003')
      expect(error.message.length).toBeLessThan(500)
      expect(error.message).not.toContain('<')
    }
  })
})

describe('a stream', () => {
  const frames = [role, hello, hello, stop, usageChunk, done]
  const text = frames.join('')
  /** The end offset of each frame. */
  const ends = frames.map((_, at) => frames.slice(0, at + 1).join('').length)
  const committedAt = ends[1] ?? 0
  const broke = terminal(
    'provider p closed the connection in the middle of its answer (ECONNRESET)',
  )
  const ended = terminal('the stream of provider p ended before it was complete')
  const finished = terminal(
    'the stream of provider p ended after its finish reason, but without [DONE]; if its streams always do, set stream_end = "finish" in the profile',
  )
  const finishedAt = ends[3] ?? 0

  /** The complete frames in the first `length` bytes. */
  const framesWithin = (length: number) => text.slice(0, ends.findLast((end) => end <= length) ?? 0)

  test('a stream reset after k bytes is requested again before its content, and ends with a terminal frame after it', async () => {
    const gateway = await watchedGateway(twoLinks)
    const sent = utf8(text)
    for (let at = 0; at <= sent.length; at++) {
      gateway.upstream.next(cutOff(sent.subarray(0, at), 'text/event-stream'))
      if (at < committedAt) gateway.upstream.next(stream([wholeStream]))
      const shown = await readStream(gateway)
      const line = settlement(gateway.log.splice(0))
      if (at < committedAt) {
        expect(shown, `after ${at} bytes`).toBe(wholeStream)
        expect(line).toMatchObject({ status: 200, attempts: 2 })
      } else if (at < text.length) {
        expect(shown, `after ${at} bytes`).toBe(framesWithin(at) + broke)
        expect(line).toMatchObject({ status: 502, error_code: 'LM-3010', attempts: 1 })
      } else {
        expect(shown).toBe(text)
        expect(line).toMatchObject({ status: 200, attempts: 1 })
      }
    }
  })

  test('a stream that ends after k bytes does the same, and a last frame counts without its blank line', async () => {
    const gateway = await watchedGateway(twoLinks)
    for (let at = 0; at <= text.length; at++) {
      // A frame is complete when only its line ends are missing.
      const length =
        ends.includes(at + 1) || ends.includes(at + 2) ? (ends.find((end) => end >= at) ?? at) : at
      gateway.upstream.next(stream([text.slice(0, at)]))
      if (length < committedAt) gateway.upstream.next(stream([wholeStream]))
      const shown = await readStream(gateway)
      if (length < committedAt) expect(shown, `after ${at} bytes`).toBe(wholeStream)
      else if (length < text.length)
        expect(shown, `after ${at} bytes`).toBe(
          framesWithin(length) + (length < finishedAt ? ended : finished),
        )
      else expect(shown).toBe(text)
    }
  })

  test.each([
    ['HTML under a stream’s type', '<html>\n\n<body>\n\n'],
    ['JSON under a stream’s type', answerText],
    ['NUL bytes', '\0'.repeat(500)],
    ['blank lines only', '\n'.repeat(1000)],
    ['carriage returns only', '\r'.repeat(1000)],
    ['lines without colons', 'hello\nworld\n\n'],
    ['broken JSON in every frame', 'data: {"choices":[{"delta":{"content":"x"}\n\ndata: }\n\n'],
    ['choices that are not an array', 'data: {"choices":{"0":{"delta":{"content":"x"}}}}\n\n'],
    [
      'deltas that are not objects',
      makeChunk({ choices: [{ delta: 'x' }, { delta: ['x'] }, 'x', null, 7] }),
    ],
    ['a terminator in every other form', 'data: DONE\n\ndata: "[DONE]"\n\n[DONE]\n\n'],
  ])('a stream of %s has no content, and is requested again', async (_, noise) => {
    const gateway = await watchedGateway(config)
    gateway.upstream.next(stream([noise]), stream([wholeStream]))
    expect(await sendStreamed(gateway)).toBe(wholeStream)
  })

  test('a stream of noise is retried, for every noise', async () => {
    const gateway = await watchedGateway(twoLinks)
    let seed = 1
    const noise = (length: number) =>
      new Uint8Array(length).map(() => {
        seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
        return seed >> 16
      })
    for (let round = 0; round < 50; round++) {
      gateway.upstream.next(stream([noise(997)]), stream([wholeStream]))
      expect(await readStream(gateway)).toBe(wholeStream)
    }
  })

  test('a stream whose frames are unlike any vendor’s passes unchanged', async () => {
    const odd = [
      makeChunk({
        choices: [{ index: 'x', delta: { content: 7, tool_calls: [null, 7, { function: 7 }] } }],
      }),
      makeChunk({ id: 7, created: 'x', model: null, choices: [] }),
      makeChunk({ choices: [{ delta: { constructor: 1, content: '\ud800' } }] }),
      'data: {"__proto__":{"choices":[]},"choices":[]}\n\n',
    ].join('')
    const gateway = await watchedGateway(config)
    gateway.upstream.next(stream([hello + odd + wholeStream]))
    expect(await sendStreamed(gateway)).toBe(hello + odd + wholeStream)
  })
})

test('after all faults the next request is served', async () => {
  const gateway = await watchedGateway(config)
  gateway.upstream.next(stream(['\0']), stream(['\0']), answer)
  await (await sendChat(gateway, streamed())).text()
  expect((await sendChat(gateway, request)).status).toBe(200)
})
