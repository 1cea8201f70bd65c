import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { UpstreamRequest } from '../../src/index.ts'
import type { TestGateway } from '../support/gateway.ts'
import { HeldUpstream } from '../support/held-upstream.ts'
import type { ClientKey } from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { reloadingGateway } from '../support/reloading-gateway.ts'
import { type ModelLimits, RoomsModel } from '../support/rooms-model.ts'
import { json } from '../support/scripted-upstream.ts'

/*
 * Random requests, answers, faults, departures, waits and reloads against a plain model of places and queues: what runs
 * at the upstream and how requests end must be the same after each step. `ROOMS=2000` runs more of them.
 */

const { ROOMS: runs = 60 } = process.env

const providers = { a: 'p', b: 'p', c: 'q' } as const
type ModelName = keyof typeof providers
const chains: Readonly<Record<ModelName, readonly ModelName[]>> = {
  a: ['a', 'c'],
  b: ['b'],
  c: ['c', 'b'],
}

const limits: readonly ModelLimits[] = [
  {
    p: { max: 2, queue: 3, time: 300 },
    a: { max: 1, queue: 2, time: 200 },
    c: { max: 1, queue: 2, time: 500 },
  },
  {
    p: { max: 3, queue: 5, time: 400 },
    a: { max: 2, queue: 0, time: 0 },
    c: { max: 2, queue: 4, time: 100 },
  },
  {
    p: { max: 1, queue: 9, time: 900 },
    a: { max: 1, queue: 9, time: 900 },
    c: { max: 1, queue: 9, time: 900 },
  },
]

function configure(chosen: ModelLimits): string {
  const write = (name: string) => {
    const limit = chosen[name]
    if (!limit) return ''
    const { max, queue, time } = limit
    return `max_parallel = ${max}\nqueue_max = ${queue}\nqueue_ms = ${time}`
  }
  const model = (name: ModelName) => `
    [[providers.models]]
    id = "${name}"
    cost_per_1m_input = 1
    cost_per_1m_output = 1
    fallbacks = ${JSON.stringify(chains[name].slice(1))}
    ${write(name)}
  `
  const provider = (name: string) => `
    [[providers]]
    name = "${name}"
    kind = "openai"
    api_key_env = "P_KEY"
    base_url = "https://${name}.test"
    ${write(name)}
  `
  return `
    [resilience]
    retry_max_attempts = 1
    circuit_failure_threshold = 1000000
    ${provider('p')}${model('a')}${model('b')}${provider('q')}${model('c')}
  `
}

const step = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({
      kind: fc.constant('start' as const),
      model: fc.constantFrom<ModelName>('a', 'a', 'b', 'c'),
      key: fc.nat(3),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      at: fc.nat(9),
      outcome: fc.constantFrom<200 | 400 | 'fault'>(200, 200, 400, 'fault'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('leave' as const), at: fc.nat(30) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), time: fc.nat(250) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reload' as const), to: fc.nat(2) }) },
)

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

test('random histories are those of a plain model', async () => {
  const start = limits[0] as ModelLimits
  const gateway = await reloadingGateway(configure(start))
  const keys = [
    await gateway.key({ priority: 'high' }),
    await gateway.key(),
    await gateway.key(),
    await gateway.key({ priority: 'low' }),
  ]
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
      await gateway.change(configure(start))
      await play(steps, gateway, keys)
    }),
    { numRuns: Number(runs) },
  )
})

async function play(
  steps: readonly Step[],
  gateway: TestGateway & { change(config: string): Promise<void> },
  keys: readonly ClientKey[],
): Promise<void> {
  const { clock } = gateway
  const held = new HeldUpstream(gateway.upstream)
  const model = new RoomsModel({ limits: limits[0] as ModelLimits, providers })
  const began = clock.elapsed()
  const statuses: Record<number, number> = {}
  const clients: AbortController[] = []
  const readId = (request: UpstreamRequest) =>
    Number(JSON.parse(new TextDecoder().decode(request.body)).user)
  const check = async () => {
    await settled()
    const running = held.running.map((call) => `${readId(call.request)} ${call.model}`)
    expect(running.sort()).toEqual(model.running)
    expect(statuses).toEqual(model.statuses)
  }
  const send = (id: number, name: ModelName, key: ClientKey) => {
    const client = new AbortController()
    clients.push(client)
    const body = { model: name, user: String(id), messages: [{ role: 'user', content: 'Hi' }] }
    void gateway.chat(body, { headers: key.headers, signal: client.signal }).then(({ status }) => {
      statuses[id] = status
    })
  }
  const answer = (at: number, outcome: 200 | 400 | 'fault') => {
    const call = held.running[at % held.running.length]
    if (!call) return
    model.answer(readId(call.request), outcome)
    if (outcome === 200) call.answer()
    else call.answer(json({ error: { message: 'no' } }, { status: outcome === 400 ? 400 : 500 }))
  }
  const wait = async (time: number) => {
    const until = clock.elapsed() + time
    while (clock.elapsed() < until) {
      const next = Math.min(until, began + (model.nextEnd ?? Number.POSITIVE_INFINITY))
      await clock.advance(next - clock.elapsed())
      model.goTo(next - began)
    }
  }
  const run = async (one: Step) => {
    switch (one.kind) {
      case 'start': {
        const id = clients.length
        const priority = (['high', 'normal', 'normal', 'low'] as const)[one.key] ?? 'normal'
        model.start({ id, account: String(one.key), priority, chain: chains[one.model] })
        return send(id, one.model, keys[one.key] as ClientKey)
      }
      case 'answer':
        return answer(one.at, one.outcome)
      case 'leave':
        if (one.at >= clients.length) return
        model.leave(one.at)
        return clients[one.at]?.abort()
      case 'wait':
        return wait(one.time)
      case 'reload': {
        const next = limits[one.to] as ModelLimits
        await gateway.change(configure(next))
        return model.reload(next)
      }
      default:
        return one satisfies never
    }
  }
  for (const one of steps) {
    await run(one)
    await check()
  }
  // Nothing that waits is left behind.
  while (held.running.length > 0) {
    answer(0, 200)
    await check()
  }
  expect(model.waiting).toEqual([])
  expect(Object.keys(statuses)).toHaveLength(clients.length)
}
