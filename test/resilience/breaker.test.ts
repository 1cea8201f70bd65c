import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { UpstreamFailure } from '../../src/core/failure.ts'
import { Breaker, type BreakerDecision, type Permit } from '../../src/resilience/breaker.ts'
import type { BreakerPolicy } from '../../src/resilience/circuit.ts'
import { completion, done, hello, role, wholeStream } from '../support/answers.ts'
import { byProvider, called, makeChain } from '../support/chain.ts'
import { expectErrorShape } from '../support/contract.ts'
import type { TestGateway } from '../support/gateway.ts'
import { settled } from '../support/manual-clock.ts'
import {
  broken,
  json,
  LiveUpstream,
  type Responder,
  silent,
  stream,
  whole,
} from '../support/scripted-upstream.ts'
import { streamed } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
const answer = json(completion())
const status = (code: number): Responder => json({}, { status: code })
const once = 'retry_max_attempts = 1'
const config = makeChain([{}], `${once}\ncircuit_failure_threshold = 3`)

/** Returns the circuit state of `m` in /metrics: 0 closed, 1 open, 2 half-open. */
async function gauge({ get }: TestGateway, model = 'm'): Promise<number | undefined> {
  const text = await (await get('/metrics')).text()
  const found = text.match(new RegExp(`gateway_circuit_state{[^}]*model="${model}"[^}]*} (\\d)`))
  return found ? Number(found[1]) : undefined
}

async function fail({ chat, upstream }: TestGateway, times: number, how = status(500)) {
  for (let turn = 0; turn < times; turn++) {
    upstream.next(how)
    await (await chat(request)).text()
  }
}

async function expectSuccess({ chat, upstream }: TestGateway) {
  upstream.next(answer)
  expect((await chat(request)).status).toBe(200)
}

/** Sends a request that the open circuit must refuse without a call. */
async function expectOpen({ chat, upstream }: TestGateway, retryAfter: number) {
  const before = upstream.requests.length
  const response = await chat(request)
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toBe(String(retryAfter))
  expect(response.headers.get('x-should-retry')).toBe('false')
  expect(await expectErrorShape(response)).toMatchObject({
    code: 'LM-3020',
    type: 'upstream_error',
  })
  expect(upstream.requests).toHaveLength(before)
}

describe('a closed circuit', () => {
  test('a circuit opens at the threshold, and no call is made during the cooldown', async () => {
    const gateway = await watchedGateway(config)
    await fail(gateway, 2)
    expect(await gauge(gateway)).toBe(0)
    await fail(gateway, 1)
    expect(await gauge(gateway)).toBe(1)
    await expectOpen(gateway, 30)
    await gateway.clock.advance(29_999)
    await expectOpen(gateway, 1)
    expect(await gauge(gateway)).toBe(1)
  })

  test('only consecutive faults count: a success resets the count', async () => {
    const gateway = await watchedGateway(config)
    for (let turn = 0; turn < 4; turn++) {
      await fail(gateway, 2)
      await expectSuccess(gateway)
    }
    await fail(gateway, 2)
    expect(await gauge(gateway)).toBe(0)
  })

  const faults: readonly (readonly [string, Responder])[] = [
    ['status 500', status(500)],
    ['status 429', status(429)],
    ['status 408', status(408)],
    ['status 401', status(401)],
    ['status 402', status(402)],
    ['status 403', status(403)],
    ['a redirect', status(302)],
    ['a refused connection', broken()],
    ['a connect timeout', broken({ kind: 'timeout', limit: 'connect' })],
    ['a malformed answer', whole('no')],
  ]
  test.each(faults)('%s counts as a fault', async (_, fault) => {
    const gateway = await watchedGateway(config)
    await fail(gateway, 3, fault)
    await expectOpen(gateway, 30)
  })

  test('a first-token timeout counts as a fault', async () => {
    const gateway = await watchedGateway(config)
    await fail(gateway, 2)
    gateway.upstream.next(silent())
    const pending = gateway.chat(request)
    await gateway.clock.advance(120_000)
    await pending
    await expectOpen(gateway, 30)
  })

  test.each([400, 404, 409, 413, 415, 422])(
    'status %i, the client’s own error, neither counts nor resets the count',
    async (code) => {
      const gateway = await watchedGateway(config)
      await fail(gateway, 2)
      await fail(gateway, 5, status(code))
      expect(await gauge(gateway)).toBe(0)
      await fail(gateway, 1)
      await expectOpen(gateway, 30)
    },
  )

  test('a refusal by the gateway itself does not count', async () => {
    const gateway = await watchedGateway(config)
    await fail(gateway, 2)
    await gateway.chat({ model: 'm', messages: [] })
    await gateway.chat('no')
    expect(await gauge(gateway)).toBe(0)
  })

  test('a missing credential does not count', async () => {
    const gateway = await watchedGateway(
      makeChain([{ keyVariable: 'NOT_SET' }], `${once}\ncircuit_failure_threshold = 1`),
    )
    for (let turn = 0; turn < 3; turn++) {
      const error = await expectErrorShape(await gateway.chat(request))
      expect(error.code).toBe('LM-3006')
    }
  })

  test('the total timeout, which is the gateway’s own limit, does not count', async () => {
    const gateway = await watchedGateway(
      makeChain(
        [{ settings: 'total_timeout_ms = 1000' }],
        `${once}\ncircuit_failure_threshold = 1`,
      ),
    )
    gateway.upstream.next(silent())
    const pending = gateway.chat(request)
    await gateway.clock.advance(1000)
    await pending
    await expectSuccess(gateway)
  })

  test('every attempt counts: a circuit that opens during a request ends its retries', async () => {
    const gateway = await watchedGateway(
      makeChain([{}], 'retry_max_attempts = 10\ncircuit_failure_threshold = 3'),
    )
    gateway.upstream.always(status(500))
    const pending = gateway.chat(request)
    await gateway.clock.advance(29_000)
    expect(await expectErrorShape(await pending)).toMatchObject({ code: 'LM-3003' })
    expect(gateway.upstream.requests).toHaveLength(3)
  })

  test('a circuit that another request opens ends the wait for a retry', async () => {
    const gateway = await watchedGateway(
      makeChain(
        [{}],
        'retry_max_attempts = 3\ncircuit_failure_threshold = 3\nretry_base_ms = 1000',
      ),
    )
    gateway.upstream.always(status(500))
    const pending = [gateway.chat(request), gateway.chat(request), gateway.chat(request)]
    await settled()
    expect(gateway.upstream.requests).toHaveLength(3)
    await gateway.clock.advance(20_000)
    for (const response of pending) await (await response).text()
    expect(gateway.upstream.requests).toHaveLength(3)
  })

  test('each provider and model has its own circuit', async () => {
    const gateway = await watchedGateway(`
      [resilience]
      ${once}
      circuit_failure_threshold = 1
      [[providers]]
      name = "p"
      kind = "openai"
      api_key_env = "P_KEY"
      models = [{ id = "m" }, { id = "n" }]
    `)
    await fail(gateway, 1)
    await expectOpen(gateway, 30)
    gateway.upstream.next(answer)
    expect((await gateway.chat({ ...request, model: 'n' })).status).toBe(200)
    expect([await gauge(gateway, 'm'), await gauge(gateway, 'n')]).toEqual([1, 0])
  })

  test('an open circuit sends the request to the next link without a call', async () => {
    const gateway = await watchedGateway(
      makeChain([{}, {}], `${once}\ncircuit_failure_threshold = 1`),
    )
    byProvider(gateway.upstream, { p: status(500), p2: answer })
    await gateway.chat(request)
    const response = await gateway.chat(request)
    expect(response.headers.get('x-gateway-provider')).toBe('p2')
    expect(called(gateway.upstream)).toEqual(['p', 'p2', 'p2'])
  })
})

/** A gateway whose circuit three failures opened one cooldown ago. */
const halfOpen = async () => {
  const gateway = await watchedGateway(config)
  await fail(gateway, 3)
  await gateway.clock.advance(30_000)
  gateway.upstream.requests.length = 0
  return gateway
}

describe('a half-open circuit', () => {
  test('a circuit is half-open after the cooldown, and the metrics show it', async () =>
    expect(await gauge(await halfOpen())).toBe(2))

  test('one success closes the circuit and resets the count', async () => {
    const gateway = await halfOpen()
    await expectSuccess(gateway)
    expect(await gauge(gateway)).toBe(0)
    await fail(gateway, 2)
    expect(await gauge(gateway)).toBe(0)
  })

  test('one failure opens the circuit again for a whole cooldown', async () => {
    const gateway = await halfOpen()
    await fail(gateway, 1)
    await expectOpen(gateway, 30)
    await gateway.clock.advance(29_999)
    await expectOpen(gateway, 1)
    await gateway.clock.advance(1)
    await expectSuccess(gateway)
  })

  test('a probe is one call even if retries are allowed', async () => {
    const gateway = await watchedGateway(makeChain([{}], 'circuit_failure_threshold = 3'))
    gateway.upstream.always(status(500))
    const first = gateway.chat(request)
    await gateway.clock.advance(1000)
    await (await first).text()
    await gateway.clock.advance(30_000)
    gateway.upstream.requests.length = 0
    expect((await gateway.chat(request)).status).toBe(502)
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test('of concurrent requests exactly one probes; all others find the circuit open', async () => {
    const gateway = await halfOpen()
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    const pending = Array.from({ length: 50 }, () => gateway.chat(streamed()))
    await settled()
    expect(gateway.upstream.requests).toHaveLength(1)
    live.push(wholeStream)
    const statuses = await Promise.all(
      pending.map(async (response) => {
        const { status: code, body } = await response
        await new Response(body).text()
        return code
      }),
    )
    expect(statuses.filter((code) => code === 200)).toHaveLength(1)
    expect(statuses.filter((code) => code === 503)).toHaveLength(49)
    await expectSuccess(gateway)
  })

  test('a probe whose client leaves frees its place without an outcome', async () => {
    const gateway = await halfOpen()
    gateway.upstream.next(silent())
    const controller = new AbortController()
    const pending = gateway.chat(request, { signal: controller.signal })
    await settled()
    await expectOpen(gateway, 30)
    controller.abort()
    expect((await pending).status).toBe(499)
    expect(await gauge(gateway)).toBe(2)
    await expectSuccess(gateway)
    expect(await gauge(gateway)).toBe(0)
  })

  test.each([
    ['a client’s own mistake', status(400)],
    ['a 404', status(404)],
  ])('%s frees the place of the probe without an outcome', async (_, mistake) => {
    const gateway = await halfOpen()
    await fail(gateway, 1, mistake)
    expect(await gauge(gateway)).toBe(2)
    await expectSuccess(gateway)
  })

  test('a probe that reaches the total timeout frees its place without an outcome', async () => {
    const gateway = await watchedGateway(
      makeChain(
        [{ settings: 'total_timeout_ms = 1000' }],
        `${once}\ncircuit_failure_threshold = 1`,
      ),
    )
    await fail(gateway, 1)
    await gateway.clock.advance(30_000)
    gateway.upstream.next(silent())
    const pending = gateway.chat(request)
    await gateway.clock.advance(1000)
    expect((await pending).status).toBe(504)
    await expectSuccess(gateway)
  })

  test('a stream closes the circuit with its first content, not with its end', async () => {
    const gateway = await halfOpen()
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    live.push(role + hello)
    const response = await gateway.chat(streamed())
    expect(await gauge(gateway)).toBe(0)
    await expectSuccess(gateway)
    live.push(done)
    await response.text()
    expect(await gauge(gateway)).toBe(0)
  })

  test('a stream that fails after its first content opens the circuit again', async () => {
    const gateway = await halfOpen()
    gateway.upstream.next(stream([role + hello]))
    await (await gateway.chat(streamed())).text()
    await expectOpen(gateway, 30)
  })
})

describe('a stream that fails after its commit', () => {
  const deaths: readonly (readonly [string, Responder])[] = [
    ['a clean end without terminator', stream([role + hello])],
    ['a reset', stream([role + hello], { failure: { kind: 'network', reason: 'ECONNRESET' } })],
    ['an error frame', stream([`${role}${hello}data: {"error":"boom"}\n\n`])],
  ]

  test.each(deaths)('a stream that fails by %s counts as a failure', async (_, death) => {
    const gateway = await watchedGateway(config)
    for (let turn = 0; turn < 3; turn++) {
      gateway.upstream.next(death)
      await (await gateway.chat(streamed())).text()
    }
    await expectOpen(gateway, 30)
  })

  test('failed streams count together with other failures', async () => {
    const gateway = await watchedGateway(config)
    await fail(gateway, 2)
    gateway.upstream.next(stream([role + hello]))
    await (await gateway.chat(streamed())).text()
    await expectOpen(gateway, 30)
  })

  test('the next complete stream resets the count', async () => {
    const gateway = await watchedGateway(config)
    for (let turn = 0; turn < 6; turn++) {
      gateway.upstream.next(stream([role + hello]), stream([wholeStream]))
      await (await gateway.chat(streamed())).text()
      await (await gateway.chat(streamed())).text()
    }
    expect(await gauge(gateway)).toBe(0)
  })

  test('a client that left or read too slowly and a total timeout do not count', async () => {
    const gateway = await watchedGateway(makeChain([{}], `${once}\ncircuit_failure_threshold = 1`))
    const opened = async () => {
      const live = new LiveUpstream()
      gateway.upstream.next(live.responder)
      live.push(role + hello)
      return { live, response: await gateway.chat(streamed()) }
    }
    const left = await opened()
    await left.response.body?.cancel()

    const slow = await opened()
    slow.live.push(new Uint8Array(9 * 2 ** 20))
    await slow.response.text()

    const late = await opened()
    await gateway.clock.advance(600_000)
    await late.response.text()
    await expectSuccess(gateway)
  })
})

/*
 * A breaker against the simplest thing that could be right: a list of what happened.
 */

interface Model {
  faults: number
  openUntil: number | undefined
  probing: boolean
}

type Step =
  | { readonly do: 'admit' }
  | { readonly do: 'pass'; readonly time: number }
  | { readonly do: 'success' | 'failure' | 'abandon' | 'opened'; readonly which: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ do: 'admit' } as const) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), time: fc.nat(15) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('success', 'failure', 'failure', 'failure', 'abandon', 'opened'),
      which: fc.nat(9),
    }),
  },
)

/** Without shared state a breaker decides at once. */
function admitAlone(breaker: Breaker, policy: BreakerPolicy): BreakerDecision {
  const decision = breaker.admit(policy)
  if (decision instanceof Promise) throw new Error('the decision takes time')
  return decision
}

test('after any order of calls, ends and waits a breaker has the state of a simple model', async () => {
  const policy = { threshold: 3, cooldown: 10 }
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let now = 0
      const breaker = new Breaker({
        now: () => now,
        elapsed: () => now,
        schedule: () => ({ cancel: () => {} }),
      })
      const model: Model = { faults: 0, openUntil: undefined, probing: false }
      const running: { permit: Permit; probe: boolean }[] = []
      const readState = () => {
        if (model.openUntil === undefined) return 'closed'
        return now < model.openUntil ? 'open' : 'half-open'
      }
      for (const next of steps) {
        switch (next.do) {
          case 'pass': {
            now += next.time
            break
          }
          case 'admit': {
            const state = readState()
            const admits = state === 'closed' || (state === 'half-open' && !model.probing)
            const admission = admitAlone(breaker, policy)
            expect(admission.admitted).toBe(admits)
            if (admission.admitted) {
              const probe = state === 'half-open'
              expect(admission.isProbe).toBe(probe)
              if (probe) model.probing = true
              running.push({ permit: admission, probe })
            } else {
              const left = state === 'open' ? (model.openUntil ?? 0) - now : policy.cooldown
              expect(admission.retryAfter).toBe(left)
            }
            break
          }
          default: {
            const [one] = running.splice(next.which % Math.max(1, running.length), 1)
            if (!one) break
            one.permit[next.do]()
            if (one.probe) model.probing = false
            end(model, { how: next.do, probe: one.probe, now, ...policy })
          }
        }
        expect(breaker.state).toBe(readState())
      }
    }),
    { numRuns: 3000 },
  )
})

interface End {
  readonly how: 'success' | 'failure' | 'abandon' | 'opened'
  readonly probe: boolean
  readonly now: number
  readonly threshold: number
  readonly cooldown: number
}

function end(model: Model, { how, probe, now, threshold, cooldown }: End): void {
  const isClosed = model.openUntil === undefined
  if (how === 'success' && (probe || isClosed))
    Object.assign(model, { faults: 0, openUntil: undefined })
  if (how === 'opened' && probe)
    Object.assign(model, { faults: threshold - 1, openUntil: undefined })
  if (how === 'failure' && probe) model.openUntil = now + cooldown
  if (how === 'failure' && !probe && isClosed && ++model.faults >= threshold) {
    model.openUntil = now + cooldown
  }
}

test('failures of unknown kinds do not open a circuit forever', async () => {
  const gateway = await watchedGateway(config)
  const odd = { kind: 'network', reason: 'ERR_ASSERTION' } satisfies UpstreamFailure
  await fail(gateway, 3, broken(odd))
  await gateway.clock.advance(30_000)
  await expectSuccess(gateway)
})
