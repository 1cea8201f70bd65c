import { expect, test } from 'vitest'
import type { UpstreamFailure } from '../../src/core/failure.ts'
import { assemble, readStream } from '../support/chunks.ts'
import { providerKey, readError } from '../support/gateway.ts'
import { pieces, singly } from '../support/pieces.ts'
import { json, type Responder, stream } from '../support/scripted-upstream.ts'
import type { ChatContractCase, ScriptedAnswer, VendorScript } from './contract-case.ts'
import {
  answering,
  askVendor,
  hello,
  type Mode,
  openGateway,
  question,
  readAnswer,
  sendQuestion,
  toHead,
} from './contract-exchange.ts'

/** What a client sees of a vendor that refuses or fails. */
export function testFailures(kindCase: ChatContractCase, script: VendorScript, mode: Mode): void {
  const refused = (status: number, message = 'the vendor says no'): Responder =>
    json(script.error(status, message), { status })
  const head = toHead(script)

  test('a 400 of the vendor goes to the client with its reason, without a retry', async () => {
    const gateway = await openGateway(kindCase)
    gateway.upstream.next(refused(400, 'this field is odd'))
    const response = await sendQuestion(gateway, mode)
    expect(response.status).toBe(400)
    const { code, message } = await readError(response)
    expect(code).toBe('LM-3003')
    expect(message).toContain('this field is odd')
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test.each([401, 403])('a refused credential (%i) is a server error', async (status) => {
    const gateway = await openGateway(kindCase)
    const { secret = providerKey } = kindCase
    gateway.upstream.next(refused(status, `key ${secret} is wrong`))
    const response = await sendQuestion(gateway, mode)
    expect(response.status).toBe(502)
    const { code, message } = await readError(response)
    expect(code).toBe('LM-3003')
    expect(message).not.toContain(secret)
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test('a 400 that blames the account, or its error in a stream, is a server error', async () => {
    const words = 'Your credit balance is too low'
    const event = stream([script.streamError(words)], head)
    for (const responder of mode === 'whole'
      ? [refused(400, words)]
      : [refused(400, words), event]) {
      const gateway = await openGateway(kindCase)
      gateway.upstream.next(responder)
      const response = await sendQuestion(gateway, mode)
      expect(response.status).toBe(502)
      const { code, message } = await readError(response)
      expect(code).toBe('LM-3003')
      expect(message).toContain(words)
      expect(gateway.upstream.requests).toHaveLength(1)
    }
  })

  test('a rate limit is retried after its delay, then returned', async () => {
    const gateway = await openGateway(kindCase)
    gateway.upstream.always(refused(429))
    const response = await sendQuestion(gateway, mode)
    expect(response.status).toBe(429)
    expect((await readError(response))['code']).toBe('LM-3001')
    expect(gateway.upstream.requests).toHaveLength(2)
  })

  test.each([500, 503])('a %i is retried with the same request', async (status) => {
    const gateway = await openGateway(kindCase)
    gateway.upstream.next(refused(status), answering(script, hello, mode))
    const outcome = await readAnswer(await sendQuestion(gateway, mode), mode)
    expect(outcome.content).toBe('Grüße, 世界 🦆')
    expect(gateway.upstream.requests).toHaveLength(2)
    expect(gateway.upstream.body(1)).toEqual(gateway.upstream.body(0))
  })

  test('a malformed answer is retried, then LM-3002', async () => {
    const gateway = await openGateway(kindCase)
    gateway.upstream.always(json('<html>busy</html>'))
    const response = await sendQuestion(gateway, mode)
    expect(response.status).toBe(502)
    const { code, message } = await readError(response)
    expect(code).toBe('LM-3002')
    expect(message).not.toContain('busy')
    expect(gateway.upstream.requests).toHaveLength(2)
  })
}

/** What a client sees of a stream, also of one that is cut off. */
export function testStreams(kindCase: ChatContractCase, script: VendorScript): void {
  const { opening, content, end } = script.events(hello)
  const broken: UpstreamFailure = { kind: 'network', reason: 'ECONNRESET' }
  const overloaded = script.streamError('overloaded')
  const head = toHead(script)

  test('a stream has the same content however the network splits it', async () => {
    const { chat, upstream } = await openGateway(kindCase)
    const bytes = concat([...opening, ...content, ...end])
    upstream.next(pieces(singly(bytes), script.contentType))
    const { chunks, done } = await readStream(
      await chat({ model: 'm', stream: true, messages: [question] }),
    )
    expect(assemble(chunks)).toMatchObject({ content: 'Grüße, 世界 🦆', finish: 'stop' })
    expect(done).toBe(true)
  })

  test('usage has its own chunk when the client asks for it', async () => {
    const gateway = await openGateway(kindCase)
    const fields = { stream_options: { include_usage: true } }
    const asked: ScriptedAnswer = { ...hello, asked: true }
    const { chunks } = await readStream(
      await askVendor(gateway, kindCase, 'streamed', asked, fields),
    )
    expect(chunks.filter(({ usage }) => usage)).toEqual([chunks.at(-1)])
    expect(chunks.at(-1)?.choices).toEqual([])
  })

  test('usage has its own chunk with an empty choice when the client did not ask for it', async () => {
    const gateway = await openGateway(kindCase)
    const { chunks } = await readStream(await askVendor(gateway, kindCase, 'streamed', hello))
    expect(chunks.filter(({ usage }) => usage)).toEqual([chunks.at(-1)])
    expect(chunks.at(-1)?.choices).toEqual([{ index: 0, delta: {}, finish_reason: null }])
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop')
  })

  test.runIf(kindCase.dropped).each([false, true])(
    'counts of 0 from the vendor never reach the client (usage requested: %s)',
    async (asked) => {
      const gateway = await openGateway(kindCase)
      const zeros: ScriptedAnswer = { ...hello, usage: { prompt: 0, completion: 0 } }
      const fields = { stream_options: { include_usage: asked } }
      const { chunks } = await readStream(
        await askVendor(gateway, kindCase, 'streamed', zeros, fields),
      )
      expect(chunks.flatMap(({ usage }) => usage ?? [])).toEqual([
        expect.objectContaining({ estimated: true }),
      ])
    },
  )

  test.each([
    ['dies', stream(opening, { ...head, failure: broken })],
    ['ends', stream(opening, head)],
    ['is empty', stream([], head)],
    ['reports an error', stream([...opening, overloaded], head)],
  ])('a stream that %s before its content is retried', async (_, dying) => {
    const gateway = await openGateway(kindCase)
    gateway.upstream.next(dying, answering(script, hello, 'streamed'))
    const outcome = await readAnswer(await sendQuestion(gateway, 'streamed'), 'streamed')
    expect(outcome).toMatchObject({ content: 'Grüße, 世界 🦆', finish: 'stop' })
  })

  test('streams that end before their content are LM-3010 in JSON', async () => {
    const gateway = await openGateway(kindCase)
    gateway.upstream.always(stream(opening, head))
    const response = await sendQuestion(gateway, 'streamed')
    expect(response.status).toBe(502)
    expect((await readError(response))['code']).toBe('LM-3010')
  })

  test.each([
    ['dies', stream([...opening, ...content], { ...head, failure: broken })],
    ['ends without its last event', stream([...opening, ...content], head)],
    ['reports an error', stream([...opening, ...content, overloaded, ...end], head)],
  ])('a stream that %s after its content ends in a terminal frame', async (_, dying) => {
    const gateway = await openGateway(kindCase)
    gateway.upstream.next(dying)
    const { chunks, done, error } = await readStream(await sendQuestion(gateway, 'streamed'))
    expect(assemble(chunks).content).toBe('Grüße, 世界 🦆')
    expect(done).toBe(false)
    expect(error).toMatchObject({ code: 'LM-3010', type: 'upstream_error' })
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test('events after the end are dropped', async () => {
    const gateway = await openGateway(kindCase)
    gateway.upstream.next(stream([...opening, ...content, ...end, ...content, overloaded], head))
    const { chunks, done } = await readStream(await sendQuestion(gateway, 'streamed'))
    expect(assemble(chunks).content).toBe('Grüße, 世界 🦆')
    expect(done).toBe(true)
  })
}

function concat(events: readonly (string | Uint8Array)[]): Uint8Array {
  return Buffer.concat(events.map((event) => Buffer.from(event)))
}
