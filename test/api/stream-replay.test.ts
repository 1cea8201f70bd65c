import { describe, expect, test } from 'vitest'
import { chunk, done, stop, usageChunk } from '../support/answers.ts'
import { expectCommonHeaders } from '../support/contract.ts'
import { cutsOf, pieces, singly } from '../support/pieces.ts'
import { LiveUpstream } from '../support/scripted-upstream.ts'
import { type VendorStream, vendorStreams } from '../support/vendor-streams.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

/** The output to the client and the logged fields of one run. */
interface Run {
  readonly shown: string
  readonly status: unknown
  readonly tokens: readonly unknown[]
  readonly estimated: unknown
}

describe('a stream is shown as it was sent, however the network cuts it', () => {
  test.for(vendorStreams)('$name', async (vendor) => {
    const sent = typeof vendor.sent === 'string' ? utf8(vendor.sent) : vendor.sent
    const run = await makeRunner(vendor)

    const whole = await run([sent])
    expect(whole.shown).toBe(dropEmptyEvents(vendor.shown ?? vendor.sent))
    expect(whole).toMatchObject({
      status: vendor.status ?? 200,
      tokens: vendor.tokens,
      estimated: vendor.estimated ?? false,
    })
    for (const cut of cutsOf(sent)) {
      const cutRun = await run(cut)
      if (JSON.stringify(cutRun) === JSON.stringify(whole)) continue
      expect(cutRun, `cut after byte ${cut[0].length}`).toEqual(whole)
    }
    expect(await run(singly(sent)), 'byte by byte').toEqual(whole)
  })
})

/** Events without data do not reach the client: several official SDKs fail at them. */
function dropEmptyEvents(shown: VendorStream['sent']): VendorStream['sent'] {
  if (typeof shown !== 'string') return shown
  const isMixed = /\r\n/.test(shown) && /\r(?!\n)/.test(shown)
  if (isMixed) return shown
  const end = shown.includes('\r\n') ? '\r\n' : shown.includes('\r') ? '\r' : '\n'
  const events = shown.split(end + end).map((event) => event.replace(/^[\r\n]+/, ''))
  const kept = events.filter((event) =>
    event.split(end).some((line) => /^\ufeff?data: ?./.test(line)),
  )
  return kept.map((event) => event + end + end).join('')
}

test('a thousand concurrent streams stay separate', async () => {
  const { chat, upstream, clock } = await watchedGateway()
  const open: { name: string; live: LiveUpstream }[] = []
  upstream.always(async (request) => {
    const { user: name } = JSON.parse(decoder.decode(request.body))
    const live = new LiveUpstream()
    open.push({ name, live })
    return live.responder(request)
  })
  const shown = Array.from({ length: 1000 }, async (_, at) => {
    const response = await chat({
      model: 'm',
      stream: true,
      user: `user-${at}`,
      messages: [{ role: 'user', content: 'Hi' }],
    })
    return response.text()
  })
  for (let round = 0; round < 5; round++) {
    await clock.advance(100)
    for (const { name, live } of open) live.push(chunk({ content: `${name}, round ${round}` }))
  }
  for (const { live } of open) live.push(stop + usageChunk + done)
  for (const [at, text] of (await Promise.all(shown)).entries()) {
    const rounds = [0, 1, 2, 3, 4].map((round) => chunk({ content: `user-${at}, round ${round}` }))
    expect(text).toBe(rounds.join('') + stop + usageChunk + done)
  }
})

async function makeRunner({ kind, requestsUsage }: VendorStream) {
  const address = ['azure', 'vllm'].includes(kind) ? 'base_url = "https://own.test"' : ''
  const { chat, upstream, log } = await watchedGateway(`
    # A failed stream must not open the circuit under the next one.
    [resilience]
    retry_max_attempts = 1
    circuit_failure_threshold = 1000000
    [[providers]]
    name = "p"
    kind = "${kind}"
    api_key_env = "P_KEY"
    ${address}
    models = [{ id = "m" }]
  `)
  return async (chunks: readonly Uint8Array[]): Promise<Run> => {
    upstream.next(pieces(chunks))
    const body = {
      model: 'm',
      stream: true,
      ...(requestsUsage && { stream_options: { include_usage: true } }),
      messages: [{ role: 'user', content: 'Hi' }],
    }
    const response = await chat(body, { headers: { 'x-request-id': 'fixed' } })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expectCommonHeaders(response)
    const shown = decoder.decode(await response.arrayBuffer())
    const { fields } = log.splice(0).find(({ message }) => message === 'request') ?? {}
    return {
      shown,
      status: fields?.['status'],
      tokens: [fields?.['tokens_in'], fields?.['tokens_out']],
      estimated: fields?.['estimated'],
    }
  }
}

const utf8 = (text: string) => new TextEncoder().encode(text)
/** Keeps a byte order mark. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
