import { describe, expect, test } from 'vitest'
import { completion } from '../support/answers.ts'
import { addCircuits } from '../support/circuits-model.ts'
import { gatewayGroup, type Member } from '../support/gateway-group.ts'
import { masterKey } from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { addParkings } from '../support/parkings-model.ts'
import { MemoryFile } from '../support/reloading-gateway.ts'
import { json, type Responder } from '../support/scripted-upstream.ts'
import { SharedServer } from '../support/shared-server.ts'

const config = (more = '') => `
  [resilience]
  retry_max_attempts = 1
  circuit_failure_threshold = 2
  [[providers]]
  name = "p"
  kind = "openai"
  base_url = "https://p.test"
  ${more}
  models = [{ id = "m" }, { id = "other" }]
`
const answer = json(completion())

async function pair(more?: string) {
  const server = new SharedServer()
  let now = 0
  addCircuits(server, () => now)
  addParkings(server, () => now)
  const env = { GATEWAY_MASTER_KEY: masterKey, A: 'canary-key-of-a', B: 'canary-key-of-b' }
  const file = new MemoryFile('')
  const { open } = gatewayGroup(config(more), { server, env, configFile: file })
  const [first, second] = [await open(), await open()]
  file.write(first.config)
  const { headers } = await first.key()
  await second.clock.advance(1_000)
  const ask = async ({ chat, upstream }: Member, responder = answer) => {
    upstream.next(responder)
    const response = await chat(
      { model: 'm', messages: [{ role: 'user', content: 'x' }] },
      { headers },
    )
    await response.text()
    await settled()
    return response.status
  }
  const pass = async (time: number) => {
    now += time
    for (const { clock } of [first, second]) await clock.advance(time)
  }
  return { server, first, second, ask, pass }
}

describe('what one process learns of a provider', () => {
  test('a circuit opens in a process without faults, and it says so', async () => {
    const { first, second, ask, pass } = await pair()
    await ask(first, json({}, { status: 500 }))
    await ask(first, json({}, { status: 500 }))
    expect(await ask(second)).toBe(503)
    expect(second.upstream.requests).toHaveLength(0)
    const circuit = { provider: 'p', model: 'm', state: 'open' }
    expect((await second.admin('GET', '/admin/status')).body).toMatchObject({ circuits: [circuit] })
    const metrics = await (await second.get('/metrics')).text()
    expect(metrics).toContain('gateway_circuit_state{provider="p",model="m"} 1')
    const question = {
      path: '/v1/chat/completions',
      body: { model: 'm', messages: [{ role: 'user', content: 'x' }] },
    }
    expect((await second.admin('POST', '/admin/explain', question)).body).toMatchObject({
      links: [{ circuit: 'open' }],
    })
    await pass(60_000)
    expect(await ask(second)).toBe(200)
    expect(await ask(first)).toBe(200)
  })

  test('a rate limited key is parked everywhere for the time that the provider asks for', async () => {
    const { first, second, ask, pass } = await pair('api_key_envs = ["A", "B"]')
    first.upstream.next(json({}, { status: 429, headers: { 'retry-after': '20' } }))
    expect(await ask(first)).toBe(200)
    const pools = async () =>
      (await second.admin('GET', '/admin/status')).body['parked_credentials']
    expect(await pools()).toMatchObject([
      { provider: 'p', credential: 'A', reason: 'rate_limited' },
    ])
    for (const _ of [1, 2, 3]) await ask(second)
    const keys = second.upstream.requests.map(({ headers }) => headers['authorization'])
    expect(new Set(keys)).toEqual(new Set(['Bearer canary-key-of-b']))
    await pass(20_000)
    for (const _ of [1, 2]) await ask(second)
    expect(second.upstream.requests.at(-1)?.headers).not.toEqual(
      second.upstream.requests.at(-2)?.headers,
    )
  })

  const several = 'api_key_envs = ["A", "B"]'
  const parkedIn = async (member: Member) =>
    JSON.stringify((await member.admin('GET', '/admin/status')).body['parked_credentials'])
  const keysOf = ({ upstream }: Member) =>
    upstream.requests.splice(0).map(({ headers }) => String(headers['authorization']).slice(-1))

  test('a refused key is parked everywhere until any process reloads', async () => {
    const { server, first, second, ask } = await pair(several)
    first.upstream.next(json({}, { status: 401 }))
    expect(await ask(first)).toBe(200)
    expect(await parkedIn(second)).toContain('"refused"')
    const third = await server.open()
    const list = await third.call('park_list', [])
    expect(list.join()).toContain('\\"A\\"')
    expect(list.join()).not.toContain('canary')
    await first.gateway.reload()
    await settled()
    expect(await parkedIn(second)).not.toContain('"refused"')
    expect(await parkedIn(first)).not.toContain('"refused"')
  })

  test('its refusals count in all of them, until a request of any succeeds', async () => {
    const { first, second, ask, pass } = await pair(several)
    const byKey: Responder = (call) =>
      (call.headers['authorization']?.endsWith('a') ? json({}, { status: 401 }) : answer)(call)
    const askTwice = async (member: Member, responder: Responder) => {
      member.upstream.always(responder)
      for (const _ of [1, 2]) await ask(member, responder)
      return new Set(keysOf(member))
    }
    const both = new Set(['a', 'b'])
    expect(await askTwice(first, byKey)).toEqual(both)
    await pass(60_000)
    expect(await parkedIn(first)).toBe('[]')
    // The other process has its turn, and its refusal is the second one.
    expect(await askTwice(second, byKey)).toEqual(both)
    await pass(119_999)
    expect(await askTwice(first, byKey)).toEqual(new Set('b'))
    await pass(1)
    expect(await askTwice(first, answer)).toEqual(both)
    // It has succeeded, so the next refusal is a first one again.
    expect(await askTwice(second, byKey)).toEqual(both)
    expect(await parkedIn(first)).toContain('"refused"')
    await pass(60_000)
    expect(await parkedIn(first)).toBe('[]')
  })

  test('a request that both keys are refused for parks neither, in any of them', async () => {
    const { first, second, ask } = await pair(several)
    first.upstream.next(json({}, { status: 403 }), json({}, { status: 403 }))
    expect(await ask(first)).toBe(502)
    expect([await parkedIn(first), await parkedIn(second)]).toEqual(['[]', '[]'])
  })

  test('when two processes park the last two at once, both go on with the one that comes back first', async () => {
    const { first, second, ask, pass } = await pair(several)
    const limited = (seconds: string) =>
      json({}, { status: 429, headers: { 'retry-after': seconds } })
    await ask(second)
    keysOf(second)
    first.upstream.next(limited('20'))
    second.upstream.next(limited('30'))
    await Promise.all([ask(first), ask(second)])
    expect([keysOf(first), keysOf(second)]).toEqual([
      ['a', 'b'],
      ['b', 'a'],
    ])
    for (const member of [first, second]) {
      expect(await parkedIn(member)).toContain('"A"')
      expect(await parkedIn(member)).toContain('"B"')
      expect(await ask(member)).toBe(200)
      expect(keysOf(member)).toEqual(['a'])
    }
    await pass(30_000)
    for (const _ of [1, 2]) await ask(first)
    expect(new Set(keysOf(first))).toEqual(new Set(['a', 'b']))
  })
})
