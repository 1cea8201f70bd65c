import { describe, expect, test } from 'vitest'
import { done, hello, role, stop, usageChunk, wholeStream } from '../support/answers.ts'
import { oneProvider } from '../support/gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { LiveUpstream, stream } from '../support/scripted-upstream.ts'
import {
  readStream,
  StreamReader,
  settlement,
  streamed,
  terminal,
} from '../support/stream-client.ts'
import { everyKind } from '../support/streams.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const withFallback = `
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
models = [{ id = "m", fallbacks = ["n"] }, { id = "n" }]
[resilience]
retry_max_attempts = 1
`

describe.each(everyKind)('a stream chain of %s', (_, streams) => {
  const opened = (config = oneProvider) => watchedGateway(config, { streams })

  async function committed() {
    const gateway = await opened()
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    live.push(role + hello)
    const response = await gateway.chat(streamed(), { headers: { 'x-request-id': 'fixed' } })
    return { gateway, live, response }
  }

  test('a whole stream passes, and its connection is reused', async () => {
    const { gateway, live, response } = await committed()
    const reader = new StreamReader(response)
    expect(await reader.next()).toBe(role + hello)
    live.push(stop + usageChunk + done)
    expect(await reader.rest()).toBe(stop + usageChunk + done)
    expect(live.released).toBe('drain')
    expect(settlement(gateway.log)).toMatchObject({ status: 200, estimated: false })
  })

  test('an upstream that fails before its content shows nothing', async () => {
    const gateway = await opened(withFallback)
    const failed = `${role}data: {"error":{"message":"overloaded"}}\n\n`
    gateway.upstream.next(stream([failed]), stream([wholeStream]))
    expect(await readStream(gateway)).toBe(wholeStream)
    expect(settlement(gateway.log)).toMatchObject({ status: 200, model: 'm', attempts: 2 })
  })

  test('an upstream that breaks off ends the stream with the terminal frame', async () => {
    const { gateway, live, response } = await committed()
    live.end()
    const ended = terminal('the stream of provider p ended before it was complete')
    expect(await new StreamReader(response).rest()).toBe(role + hello + ended)
    expect(settlement(gateway.log)).toMatchObject({ error_code: 'LM-3010', tokens_out: 2 })
  })

  test('a stream that is not read ends by its timeouts', async () => {
    const { gateway, live, response } = await committed()
    await settled()
    gateway.gateway.drain()
    expect(live.released).toBe('cancel')
    expect(gateway.gateway.inFlight).toBe(0)
    const shutdown = terminal('the gateway is shutting down')
    expect(await new StreamReader(response).rest()).toBe(role + hello + shutdown)
    expect(settlement(gateway.log)).toMatchObject({ tokens_out: 2 })
  })

  test('a reader that cancels ends the stream and leaves nothing behind', async () => {
    const { gateway, live, response } = await committed()
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    await settled()
    expect(live.released).toBe('cancel')
    expect(settlement(gateway.log)).toMatchObject({ status: 499, error_code: 'LM-6001' })
  })

  test('the upstream is read at most a few chunks ahead of a client that stops reading', async () => {
    const { gateway, live, response } = await committed()
    for (let count = 0; count < 50; count++) {
      live.push(hello)
      await settled()
    }
    expect(gateway.gateway.buffers.bytes).toBeGreaterThan(30 * hello.length)
    await response.body?.cancel()
  })
})
