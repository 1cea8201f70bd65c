import * as fc from 'fast-check'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createMetrics } from '../../adapters/node/ports/metrics.ts'
import { createGateway } from '../../src/index.ts'
import { completion } from '../support/answers.ts'
import { cachedProvider } from '../support/cached.ts'
import { providerKey } from '../support/gateway.ts'
import { masterKey } from '../support/keyed-gateway.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { MemoryFile, withAuth } from '../support/reloading-gateway.ts'
import { json, ScriptedUpstream } from '../support/scripted-upstream.ts'

/*
 * Random requests against a plain model of the cache: a list of what the upstream has answered to whom.
 */

const ttl = 60_000
const maxBytes = 6_000
const configs = [`ttl_seconds = 60\nmax_bytes = ${maxBytes}\nmax_entry_bytes = 2000`]
  .map(cachedProvider)
  .flatMap((config) => [config, config.replace('output = 2', 'output = 3')])

/** What the model remembers of an answer of the upstream. */
interface Given {
  readonly account: string
  readonly request: string
  readonly body: string
  readonly at: number
}

const member = fc.constantFrom('seed', 'user')
const value = fc.constantFrom<unknown>(1, ['a', 'b'], { x: 1, y: { z: null } })
const body = fc.record({
  content: fc.constant('Hi'),
  more: fc.uniqueArray(fc.tuple(member, value), { selector: ([name]) => name, maxLength: 1 }),
  isReversed: fc.boolean(),
})

const step = fc.oneof(
  {
    weight: 15,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      client: fc.nat(3),
      body,
      directive: fc.constantFrom('', '', '', '', 'no-cache', 'no-store'),
      answer: fc.constantFrom('whole', 'whole', 'whole', 'large', 'unfinished', 'refused'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), delay: fc.nat(ttl) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reload' as const), config: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const) }) },
)

test('a client gets only what the upstream gave for an equal request of its account', async () => {
  let hits = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 60, size: 'max' }),
      async (steps) => {
        const world = await openWorld()
        try {
          for (const each of steps) hits += await world.take(each)
        } finally {
          await world.close()
        }
      },
    ),
    { numRuns: 25 },
  )
  expect(hits).toBeGreaterThan(20)
})

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

async function openWorld() {
  const file = new MemoryFile(withAuth(configs[0] ?? ''))
  const upstream = new ScriptedUpstream()
  const clock = new ManualClock()
  const gateway = await createGateway({
    config: file.text,
    configFile: file,
    env: { P_KEY: providerKey, GATEWAY_MASTER_KEY: masterKey },
    clock,
    upstream: upstream.port,
    openStore: async () => new MemoryStore(),
    metrics: () => createMetrics(new Registry()),
  })
  const send = (path: string, init: RequestInit) =>
    gateway.fetch(new Request(`http://gateway.test${path}`, init))
  const admin = async (method: string, path: string, fields?: object) => {
    const response = await send(path, {
      method,
      headers: { authorization: `Bearer ${masterKey}` },
      ...(fields && { body: JSON.stringify(fields) }),
    })
    return (await response.json()) as Record<string, string>
  }
  const group = await admin('POST', '/admin/groups', { name: 'pool' })
  const clients: { secret: string; account: string }[] = []
  for (const pool of [null, null, group['id'], group['id']]) {
    const key = await admin('POST', '/admin/keys', { name: 'k', group_id: pool })
    clients.push({ secret: String(key['key']), account: pool ?? String(key['id']) })
  }
  let given: Given[] = []
  let current = 0
  let calls = 0

  return {
    close: () => gateway.close(),
    /** Takes one step, and returns 1 for a hit. */
    async take(next: Step): Promise<number> {
      switch (next.kind) {
        case 'wait':
          await clock.advance(next.delay)
          return 0
        case 'clear':
          await admin('DELETE', '/admin/cache')
          given = []
          return 0
        case 'reload':
          if (next.config !== current) given = []
          current = next.config
          file.write(withAuth(configs[next.config] ?? ''))
          await gateway.reload()
          return 0
        case 'ask':
          return ask(next)
        default:
          return next satisfies never
      }
    },
  }

  async function ask(next: Step & { kind: 'ask' }): Promise<number> {
    const { secret, account } = clients[next.client] ?? { secret: '', account: '' }
    const request = describeRequest(next.body)
    const before = calls
    upstream.always(async (call) => {
      calls++
      return respond(next.answer, calls)(call)
    })
    const response = await send('/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'x-gateway-cache': next.directive },
      body: writeRequest(next.body),
    })
    const text = await response.text()
    expect(await readBytes()).toBeLessThanOrEqual(maxBytes)
    const isHit = response.headers.get('x-gateway-cache') === 'hit'
    expect(calls - before).toBe(isHit ? 0 : 1)
    if (!isHit) {
      const isKept = next.answer === 'whole' && next.directive !== 'no-store'
      if (isKept) given.push({ account, request, body: text, at: clock.elapsed() })
      return 0
    }
    expect(next.directive).toBe('')
    const fresh = given.filter(({ at }) => clock.elapsed() - at < ttl)
    const equal = fresh.filter((one) => one.account === account && one.request === request)
    expect(equal.at(-1)?.body).toBe(text)
    return 1
  }

  async function readBytes(): Promise<number> {
    const response = await send('/metrics', {})
    const found = /^gateway_cache_bytes (\d+)$/m.exec(await response.text())
    return Number(found?.[1])
  }
}

function respond(answer: string, call: number) {
  switch (answer) {
    case 'large':
      return json(completion(`${call} ${'x'.repeat(2_500)}`))
    case 'unfinished':
      return json({ ...completion(String(call)), choices: [{ index: 0, finish_reason: null }] })
    case 'refused':
      return json({ error: { message: String(call) } }, { status: 400 })
    default:
      return json(completion(String(call)))
  }
}

interface Body {
  readonly content: string
  readonly more: readonly (readonly [string, unknown])[]
  readonly isReversed: boolean
}

/** Writes a body with its members in one of two orders, and blanks in one of them. */
function writeRequest({ content, more, isReversed }: Body): string {
  const members = [['model', 'm'], ['messages', [{ role: 'user', content }]], ...more] as const
  const ordered = isReversed ? members.toReversed() : members
  return JSON.stringify(Object.fromEntries(ordered), undefined, isReversed ? 1 : 0)
}

/** Describes what makes a request equal to another. */
function describeRequest({ content, more }: Body): string {
  const counted = more.filter(([name]) => name !== 'user')
  return JSON.stringify([content, counted.toSorted(([a], [b]) => (a < b ? -1 : 1))])
}
