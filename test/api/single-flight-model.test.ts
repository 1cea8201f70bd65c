import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { nodeDigest } from '../../adapters/node/process/system.ts'
import type { UpstreamRequest, UpstreamResponse } from '../../src/index.ts'
import { completion } from '../support/answers.ts'
import { cacheOn } from '../support/cached.ts'
import { oneProvider, testGateway } from '../support/gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { json, silent } from '../support/scripted-upstream.ts'

/*
 * Random interleavings of equal requests against a plain model of single flight. `FLIGHTS=5000` runs more
 * of them.
 */

const { FLIGHTS: runs = 200 } = process.env
const totalTimeout = 10_000

const config = `${cacheOn()}[resilience]
retry_max_attempts = 1
total_timeout_ms = ${totalTimeout}
circuit_failure_threshold = 1000000
${oneProvider}cache = true
`

type Answer = 'whole' | 'refused' | 'unfinished'
/** How a request has ended, for its client; `hit` has the answer of another request. */
type End = Answer | 'hit' | 'timeout' | 'left'

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('start' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('leave' as const), at: fc.nat(9) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      at: fc.nat(9),
      answer: fc.constantFrom<Answer>('whole', 'refused', 'refused', 'unfinished'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), delay: fc.nat(totalTimeout / 2) }),
  },
)

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** One request, in the model. */
class Asked {
  readonly deadline: number
  readonly waits: Asked[] = []
  followed = 0
  state: 'calls' | 'waits' | 'ended' = 'waits'
  hasLeft = false
  end: End | undefined

  constructor(now: number) {
    this.deadline = now + totalTimeout
  }
}

/** What single flight promises, as a program without time and promises. */
class Model {
  readonly all: Asked[] = []
  isCached = false
  readonly #calls: Asked[] = []
  #flight: Asked | undefined

  start(now: number): void {
    const asked = new Asked(now)
    this.all.push(asked)
    this.#proceed(asked)
  }

  /** A request takes the kept answer, waits for the running call, or calls, after two waits at the latest. */
  #proceed(asked: Asked): void {
    const mayWait = asked.followed < 2
    if (mayWait && this.isCached) return this.#finish(asked, 'hit')
    if (mayWait && this.#flight) {
      asked.state = 'waits'
      this.#flight.waits.push(asked)
      return
    }
    asked.state = 'calls'
    this.#calls.push(asked)
    if (mayWait) this.#flight = asked
  }

  /** The requests whose calls are running, in the order of the calls. */
  get calls(): readonly Asked[] {
    return this.#calls.filter(({ state }) => state === 'calls')
  }

  answer(caller: Asked, given: Answer | 'timeout'): void {
    if (given === 'whole') this.isCached = true
    this.#finish(caller, given)
    const waiting = this.#land(caller)
    for (const asked of waiting) {
      if (given === 'whole') this.#finish(asked, 'hit')
      else {
        asked.followed++
        this.#proceed(asked)
      }
    }
  }

  leave(asked: Asked): void {
    const caller = this.#flight
    asked.hasLeft = true
    if (asked.state === 'waits') {
      const waits = caller?.waits ?? []
      waits.splice(waits.indexOf(asked), 1)
      this.#finish(asked, 'left')
      if (caller?.hasLeft && waits.length === 0) this.#abort(caller)
    } else if (asked.waits.length === 0) this.#abort(asked)
  }

  /** Ends what is due at a time. */
  expire(now: number): void {
    const due = this.all.filter(({ deadline, state }) => state !== 'ended' && deadline <= now)
    for (const asked of due.sort((a, b) => a.deadline - b.deadline)) {
      if (asked.state === 'calls') this.answer(asked, 'timeout')
      else if (asked.state === 'waits') {
        const waits = this.#flight?.waits ?? []
        waits.splice(waits.indexOf(asked), 1)
        this.#finish(asked, 'timeout')
        if (this.#flight?.hasLeft && waits.length === 0) this.#abort(this.#flight)
      }
    }
  }

  #abort(caller: Asked): void {
    this.#finish(caller, 'left')
    this.#land(caller)
  }

  #land(caller: Asked): readonly Asked[] {
    if (this.#flight === caller) this.#flight = undefined
    return caller.waits.splice(0)
  }

  #finish(asked: Asked, end: End): void {
    asked.state = 'ended'
    asked.end = asked.hasLeft ? 'left' : end
  }
}

test('equal requests wait for one call at a time, twice at most, and none harms another', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 3, maxLength: 24, size: 'max' }),
      async (steps) => {
        const world = await openWorld()
        for (const next of steps) await world.take(next)
        await world.take({ kind: 'wait', delay: totalTimeout })
        world.expectNothingHeld()
      },
    ),
    { numRuns: Number(runs) },
  )
})

interface Client {
  readonly leave: () => void
  end: End | undefined
}

async function openWorld() {
  const { chat, upstream, clock, gateway } = await testGateway(config, { digest: nodeDigest })
  const model = new Model()
  const clients: Client[] = []
  const open: ((answer: Answer) => void)[] = []
  upstream.always(hold)
  return {
    async take(next: Step): Promise<void> {
      await perform(next)
      await settled()
      expect(open).toHaveLength(model.calls.length)
      expect(clients.map(({ end }) => end)).toEqual(model.all.map(({ end }) => end))
    },
    expectNothingHeld(): void {
      expect(clients.every(({ end }) => end !== undefined)).toBe(true)
      expect([gateway.inFlight, gateway.buffers.bytes, clock.pending]).toEqual([0, 0, 0])
    },
  }

  async function perform(next: Step): Promise<void> {
    switch (next.kind) {
      case 'start':
        // No two requests have the same deadline.
        await advance(1)
        model.start(clock.elapsed())
        clients.push(ask())
        return
      case 'leave': {
        const present = model.all.filter(({ state, hasLeft }) => state !== 'ended' && !hasLeft)
        const leaving = present[next.at % present.length]
        if (!leaving) return
        model.leave(leaving)
        return clients[model.all.indexOf(leaving)]?.leave()
      }
      case 'answer': {
        const at = next.at % model.calls.length
        const caller = model.calls[at]
        if (!caller) return
        open.splice(at, 1)[0]?.(next.answer)
        return model.answer(caller, next.answer)
      }
      case 'wait':
        return advance(next.delay)
      default:
        next satisfies never
    }
  }

  async function advance(delay: number): Promise<void> {
    await clock.advance(delay)
    model.expire(clock.elapsed())
  }

  function ask(): Client {
    const controller = new AbortController()
    const { signal } = controller
    const client: Client = { leave: () => controller.abort(), end: undefined }
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
    void chat(body, { signal })
      .then((response) => (signal.aborted ? 'left' : readEnd(response)))
      .catch(() => 'left' as const)
      .then((end) => {
        client.end = end
      })
    return client
  }

  /** Waits for an answer, or until the gateway aborts the call. */
  async function hold(request: UpstreamRequest): Promise<UpstreamResponse> {
    let reply: (answer: Answer) => void = () => {}
    const answered = new Promise<Answer>((resolve) => {
      reply = resolve
    })
    open.push(reply)
    const aborted = silent()(request).catch((error: unknown) => {
      const at = open.indexOf(reply)
      if (at >= 0) open.splice(at, 1)
      throw error
    })
    return Promise.race([answered.then((answer) => respond(answer)(request)), aborted])
  }
}

async function readEnd(response: Response): Promise<End> {
  const text = await response.text()
  if (response.status === 504) return 'timeout'
  if (response.status !== 200) return 'refused'
  if (response.headers.get('x-gateway-cache') === 'hit') return 'hit'
  return text.includes('"finish_reason":null') ? 'unfinished' : 'whole'
}

function respond(answer: Answer) {
  if (answer === 'refused') return json({ error: { message: 'no' } }, { status: 400 })
  if (answer === 'whole') return json(completion())
  return json({
    ...completion(),
    choices: [{ index: 0, message: { content: 'H' }, finish_reason: null }],
  })
}
