import { describe, expect, test } from 'vitest'
import { createCrew } from '../support/crew.ts'
import { series } from '../support/exposition.ts'
import {
  type KeyedGateway,
  keyedGateway,
  pricedProvider,
  prompt,
  used,
} from '../support/keyed-gateway.ts'
import { MemoryFile, withAuth } from '../support/reloading-gateway.ts'
import { broken, json } from '../support/scripted-upstream.ts'

interface Crew {
  readonly first: KeyedGateway
  readonly second: KeyedGateway
  readonly file: MemoryFile
}

/** Two gateways that are workers of one, with one configuration file. */
async function startCrew(config = pricedProvider): Promise<Crew> {
  const file = new MemoryFile(withAuth(config))
  const [first, second] = await Promise.all(
    createCrew(2).map((workers) => keyedGateway(config, { workers, configFile: file })),
  )
  if (!first || !second) throw new Error('there are two')
  return { first, second, file }
}

async function askOnce(gateway: KeyedGateway, body: object = prompt()): Promise<number> {
  const { status } = await gateway.ask(await gateway.key(), body)
  return status
}

describe('each worker shows what all of them do', () => {
  test('GET /admin/status adds up the minutes and the requests in flight', async () => {
    const { first, second } = await startCrew()
    for (const gateway of [first, second]) gateway.upstream.next(used(8, 4))
    await askOnce(first)
    await askOnce(second)
    await askOnce(second, { model: 'none' })
    for (const gateway of [first, second]) {
      const { body } = await gateway.admin('GET', '/admin/status')
      const { minutes } = body as { minutes: readonly Record<string, number>[] }
      expect(minutes).toHaveLength(60)
      expect(minutes.at(-1)).toMatchObject({
        requests_ok: 2,
        requests_client_error: 1,
        tokens_in: 16,
        tokens_out: 8,
        cost: 0.000032,
      })
      expect(minutes.at(-1)?.['latency_p50_ms']).not.toBeNull()
      expect(body).toMatchObject({ in_flight: 0, circuits: [{ model: 'm', state: 'closed' }] })
    }
  })

  test('a circuit is open when it is open in one of them', async () => {
    const { first, second } = await startCrew(
      `${pricedProvider}\n[resilience]\nretry_max_attempts = 1\ncircuit_failure_threshold = 1`,
    )
    first.upstream.next(used(8, 4))
    second.upstream.next(broken({ kind: 'network', reason: 'ECONNREFUSED' }))
    await askOnce(first)
    await askOnce(second)
    for (const gateway of [first, second]) {
      const { body } = await gateway.admin('GET', '/admin/status')
      expect(body).toMatchObject({
        circuits: [{ model: 'm', state: 'open', last_failure: { reason: expect.any(String) } }],
      })
      const page = await (await gateway.get('/metrics')).text()
      expect(series(page, 'gateway_circuit_state')).toMatchObject([{ value: 1 }])
      const counts = series(page, 'gateway_request_duration_seconds_count')
      expect(counts.map(({ labels, value }) => [labels['status'], value]).sort()).toEqual([
        ['200', 1],
        ['502', 1],
      ])
    }
  })

  test('a provider with a credential that is parked in one of them has the state parked', async () => {
    const { first, second } = await startCrew(`
      [[providers]]
      name = "p"
      kind = "openai"
      base_url = "https://p.test"
      api_key_envs = ["P_KEY", "GATEWAY_MASTER_KEY"]
      models = [{ id = "m" }]
    `)
    first.upstream.always(json({}, { status: 429, headers: { 'retry-after': '60' } }))
    await askOnce(first)
    for (const gateway of [first, second]) {
      const { body } = await gateway.admin('GET', '/admin/status')
      expect(body).toMatchObject({ credentials: { p: { state: 'parked' } } })
    }
  })

  test('GET /admin/requests has each worker write its rows first', async () => {
    const { first, second } = await startCrew()
    for (const gateway of [first, second]) {
      gateway.upstream.next(used(8, 4))
      await askOnce(gateway)
      await askOnce(gateway, { ...prompt(), model: 'none' })
    }
    expect(second.store.usage).toEqual([])
    await first.admin('GET', '/admin/requests')
    for (const { store } of [first, second]) {
      expect(store.usage).toMatchObject([{ status: 200 }])
      expect(store.refused).toMatchObject([{ status: 404, model: 'none' }])
    }
  })

  test('GET /admin/routes averages the times of all', async () => {
    const { first, second } = await startCrew(
      `${pricedProvider}\n[[routes]]\nid = "r"\nstrategy = "fastest"\ntargets = [{ model = "m" }]`,
    )
    const answerAfter = (gateway: KeyedGateway, delay: number) =>
      gateway.upstream.next(async (request) => {
        await gateway.clock.advance(delay)
        return used(8, 4)(request)
      })
    answerAfter(first, 1_000)
    answerAfter(second, 3_000)
    await askOnce(first, { ...prompt(), model: 'r' })
    await askOnce(second, { ...prompt(), model: 'r' })
    const { body } = await second.admin('GET', '/admin/routes')
    expect(body).toMatchObject({
      routes: [{ id: 'r', targets: [{ model: 'm', in_flight: 0, latency_ms: 2_000 }] }],
    })
  })

  test('DELETE /admin/cache empties the cache of all', async () => {
    const cached = pricedProvider.replace('id = "m"', 'id = "m"\ncache = true')
    const { first, second } = await startCrew(`${cached}\n[cache]\nenabled = true`)
    for (const gateway of [first, second]) {
      gateway.upstream.next(used(8, 4))
      await askOnce(gateway)
    }
    expect(await first.admin('DELETE', '/admin/cache')).toMatchObject({ body: { deleted: 2 } })
    expect(await second.admin('DELETE', '/admin/cache')).toMatchObject({ body: { deleted: 0 } })
  })
})

describe('a change of the configuration', () => {
  const changed = withAuth(pricedProvider.replace('id = "m"', 'id = "new"'))

  async function put(gateway: KeyedGateway, text: string, hash: string): Promise<number> {
    const { status } = await gateway.get('/admin/config', {
      method: 'PUT',
      body: text,
      headers: {
        'if-match': hash,
        authorization: `Bearer ${'5e'.repeat(32)}`,
      },
    })
    return status
  }

  async function hashOf(gateway: KeyedGateway): Promise<string> {
    return String((await gateway.admin('GET', '/admin/config')).body['hash'])
  }

  async function listModels(gateway: KeyedGateway): Promise<unknown> {
    const { headers } = await gateway.key()
    const { data } = await (await gateway.get('/v1/models', { headers })).json()
    return data.map(({ id }: { id: string }) => id)
  }

  test('is served by all when PUT /admin/config answers 204, and logged once', async () => {
    const { first, second } = await startCrew()
    expect(await put(first, changed, await hashOf(first))).toBe(204)
    expect(await listModels(second)).toEqual(['new'])
    expect(await listModels(first)).toEqual(['new'])
    const lines = [...first.log, ...second.log].map(({ message }) => message)
    expect(lines.filter((message) => message === 'configuration reloaded')).toHaveLength(1)
    // The hash is known to both, so that neither reads the file as changed.
    await second.gateway.refresh()
    expect(second.log.map(({ message }) => message)).not.toContain('configuration reloaded')
  })

  test('is made by one of two that race', async () => {
    const { first, second } = await startCrew()
    const hash = await hashOf(first)
    const other = withAuth(pricedProvider.replace('id = "m"', 'id = "other"'))
    const statuses = await Promise.all([put(first, changed, hash), put(second, other, hash)])
    expect(statuses.sort()).toEqual([204, 412])
    expect(await listModels(first)).toEqual(await listModels(second))
  })

  test('that a worker cannot follow fails, with the reason in its log', async () => {
    const { first, second } = await startCrew()
    const hash = await hashOf(first)
    second.store.trouble = 'refuse'
    expect(await put(first, changed, hash)).toBeGreaterThanOrEqual(500)
    expect(second.log).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ message: 'the configuration cannot be reloaded' }),
      ]),
    )
    second.store.trouble = 'none'
  })
})
