import { describe, expect, onTestFinished, test } from 'vitest'
import type { UpstreamRequest } from '../../src/index.ts'
import { completion, hello, role, wholeStream } from '../support/answers.ts'
import type { TestGateway } from '../support/gateway.ts'
import {
  broken,
  json,
  LiveUpstream,
  type Responder,
  ScriptedUpstream,
  silent,
} from '../support/scripted-upstream.ts'
import { StreamReader, streamed } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const interval = 10_000
const start = 1_764_000_000

const config = (settings = '') => `
  [resilience]
  health_check_enabled = true
  health_check_interval_ms = ${interval}
  retry_max_attempts = 1
  [[providers]]
  name = "p"
  kind = "openai"
  base_url = "http://p.test/v1"
  ${settings}
  models = [{ id = "m" }]
`

const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

interface Probed extends TestGateway {
  /** Returns `status checked_at latency_ms detail`; `checked_at` in seconds from the start. */
  health(): Promise<string>
  /** Returns the URLs of the probes so far. */
  probes(): string[]
}

interface Answers {
  readonly call?: Responder
  readonly probe?: Responder
  readonly settings?: string
}

const isProbe = ({ method }: UpstreamRequest) => method === 'GET'

/** A gateway after its first probe; its provider answers calls and probes as given. */
async function probed({ call = json(completion()), probe, settings }: Answers): Promise<Probed> {
  const upstream = new ScriptedUpstream()
  const answer = probe ?? json({})
  upstream.always((sent) => (isProbe(sent) ? answer(sent) : call(sent)))
  const gateway = await watchedGateway(config(settings), { upstream: upstream.port })
  onTestFinished(async () => void (await gateway.gateway.close()))
  await gateway.clock.advance(0)
  return {
    ...gateway,
    upstream,
    async health() {
      const { providers } = await (await gateway.get('/health/providers')).json()
      const { status, checked_at: at, latency_ms: latency, detail } = providers.p
      return `${status} ${at - start} ${latency} ${detail}`
    },
    probes: () => upstream.requests.filter(isProbe).map(({ url }) => url),
  }
}

describe('a provider that answers is up and is not probed', () => {
  test('an answer counts as a check for one interval', async () => {
    const { chat, clock, health, probes } = await probed({})
    expect([await health(), probes().length]).toEqual(['up 0 0 null', 1])
    await clock.advance(4_000)
    await chat(request)
    expect(await health()).toBe('up 4 null null')
    await clock.advance(6_000)
    expect([await health(), probes().length]).toEqual(['up 4 null null', 1])
    await clock.advance(interval)
    expect([await health(), probes().length]).toEqual(['up 20 0 null', 2])
  })

  test('an answer outweighs an earlier failed probe', async () => {
    const { chat, clock, health } = await probed({ probe: broken() })
    expect(await health()).toMatch(/^down 0/)
    await clock.advance(1_000)
    await chat(request)
    expect(await health()).toBe('up 1 null null')
  })

  test('a running stream counts as an answer', async () => {
    const live = new LiveUpstream()
    const { chat, clock, health, probes } = await probed({ call: live.responder })
    live.push(role + hello)
    const reader = new StreamReader(await chat(streamed()))
    await reader.next()
    await clock.advance(5 * interval)
    expect([await health(), probes().length]).toEqual(['up 0 null null', 1])
    live.push(wholeStream)
    await reader.rest()
    expect(await health()).toBe('up 50 null null')
    await clock.advance(2 * interval)
    expect(probes()).toHaveLength(2)
  })

  test.each([
    ['the client leaves', (_: LiveUpstream, reader: StreamReader) => reader.leave()],
    [
      'the provider breaks off',
      async (live: LiveUpstream, reader: StreamReader) => {
        live.fail({ kind: 'network', reason: 'ECONNRESET' })
        await reader.rest()
      },
    ],
  ])('a provider is probed again after a stream in which %s', async (_, end) => {
    const live = new LiveUpstream()
    const { chat, clock, probes } = await probed({ call: live.responder })
    live.push(role + hello)
    const reader = new StreamReader(await chat(streamed()))
    await reader.next()
    await clock.advance(3 * interval)
    await end(live, reader)
    await clock.advance(interval)
    expect(probes()).toHaveLength(2)
  })
})

test('a probe that the gateway has no file descriptor for says nothing about the provider', async () => {
  let outOfFiles = false
  const lack = broken({ kind: 'network', reason: 'EMFILE', phase: 'connecting' })
  const { clock, health, probes } = await probed({
    probe: (sent) => (outOfFiles ? lack(sent) : json({})(sent)),
  })
  outOfFiles = true
  await clock.advance(interval)
  expect([await health(), probes().length]).toEqual(['up 0 0 null', 2])
})

describe('a provider that does not answer is probed in every interval', () => {
  test.each([
    ['fails its answers', json({}, { status: 500 })],
    ['cannot be reached', broken()],
  ])('a provider is probed when it %s', async (_, call) => {
    const { chat, clock, health, probes } = await probed({ call, probe: broken() })
    for (let round = 1; round <= 3; round++) {
      await chat(request)
      await clock.advance(interval)
      expect(probes()).toHaveLength(1 + round)
    }
    expect(await health()).toMatch(/^down 30/)
  })

  test('a provider is probed when its calls hang, once one of them has failed', async () => {
    const { chat, clock, health, probes } = await probed({
      call: silent(),
      probe: broken(),
      settings: `first_token_timeout_ms = ${2 * interval}`,
    })
    const first = chat(request)
    await clock.advance(interval + 1)
    expect(probes()).toHaveLength(1)
    const second = chat(request)
    await clock.advance(2 * interval)
    expect([probes().length, await health()]).toEqual([3, expect.stringMatching(/^down 30/)])
    expect([(await first).status, (await second).status]).toEqual([504, 504])
  })
})

/**
 * A server that handles one request at a time: a request that arrives while it is busy ends the
 * current answer. Its answers begin with their first content.
 */
function singleRequestServer() {
  let running: LiveUpstream | undefined
  let begin = () => {}
  let cuts = 0
  return {
    get cuts() {
      return cuts
    },
    probe: (async (sent) => {
      if (running) {
        cuts++
        running.end()
      }
      return json({})(sent)
    }) satisfies Responder,
    call: (async (sent) => {
      const answer = new LiveUpstream()
      running = answer
      await new Promise<void>((resolve) => {
        begin = resolve
      })
      return answer.responder(sent)
    }) satisfies Responder,
    say(text: string) {
      begin()
      running?.push(text)
    },
    finish() {
      running?.push(wholeStream)
      running = undefined
    },
  }
}

test('a server that ends its answer early when probed never ends a gateway request', async () => {
  const server = singleRequestServer()
  const { chat, clock, probes } = await probed({ call: server.call, probe: server.probe })
  for (const thinking of [0, interval / 2, 3 * interval]) {
    const answer = chat(streamed())
    // The server sends nothing while it processes the prompt.
    await clock.advance(thinking)
    server.say(role + hello)
    const reader = new StreamReader(await answer)
    for (let piece = 0; piece < 4; piece++) {
      await clock.advance(interval)
      server.say(hello)
    }
    server.finish()
    expect(await reader.rest()).toMatch(/data: \[DONE\]\n\n$/)
    await clock.advance(3 * interval)
  }
  expect(server.cuts).toBe(0)
  expect(probes().length).toBeGreaterThan(3)
})

describe('health_path', () => {
  test('a probe requests health_path at the origin of base_url instead of the kind’s default', async () => {
    const { probes, health } = await probed({ settings: 'health_path = "/live?deep=1"' })
    expect(probes()).toEqual(['http://p.test/live?deep=1'])
    expect(await health()).toBe('up 0 0 null')
  })

  test('only a 2xx on health_path means up', async () => {
    const settings = 'health_path = "/live"'
    const { health } = await probed({ settings, probe: json({}, { status: 404 }) })
    expect(await health()).toBe('down 0 0 status 404')
  })
})
