import { describe, expect, test } from 'vitest'
import { gatewayGroup, type Member } from '../support/gateway-group.ts'
import { keyedGateway, pricedProvider, prompt, used } from '../support/keyed-gateway.ts'

/** Two processes on one database. */
async function pair() {
  const { server, store, open } = gatewayGroup()
  return { server, store, first: await open(), second: await open() }
}

/** The status that a request with a key gets. */
async function status({ get }: Member, key: { headers: Record<string, string> }) {
  return (await get('/v1/models', { headers: key.headers })).status
}

describe('a change by one process', () => {
  test('a created, changed, rotated or deleted key is known to the others within a second', async () => {
    const { first, second } = await pair()
    const key = await first.key()
    await second.clock.advance(1_000)
    expect(await status(second, key)).toBe(200)

    await first.admin('PATCH', `/admin/keys/${key.id}`, { disabled: true })
    await second.clock.advance(1_000)
    expect(await status(second, key)).toBe(401)
    await second.admin('PATCH', `/admin/keys/${key.id}`, { disabled: false, rpm_limit: 7 })
    await first.clock.advance(1_000)
    expect((await first.admin('GET', `/admin/keys/${key.id}`)).body).toMatchObject({ rpm_limit: 7 })

    await first.admin('DELETE', `/admin/keys/${key.id}`)
    await second.clock.advance(1_000)
    expect(await status(second, key)).toBe(401)
  })

  test('a change whose message is lost is found within five seconds, without a message', async () => {
    const { server, first, second } = await pair()
    server.losesMessages = true
    const key = await first.key()
    await second.clock.advance(4_000)
    expect(await status(second, key)).toBe(401)
    await second.clock.advance(1_000)
    expect(await status(second, key)).toBe(200)
  })

  test('a change that was made while the server was away is read at once when it is back', async () => {
    const { server, first, second } = await pair()
    server.leave()
    const key = await first.key()
    await second.clock.advance(1_000)
    expect(await status(second, key)).toBe(401)
    server.comeBack()
    await second.clock.advance(250)
    expect(await status(second, key)).toBe(200)
  })

  test('a group, the webhooks and the signing key are read again', async () => {
    const { first, second } = await pair()
    const { body } = await first.admin('POST', '/admin/groups', { name: 'g', rpm_limit: 3 })
    await first.admin('PUT', '/admin/webhooks', { url: 'https://hooks.test/' })
    await first.admin('PUT', '/admin/webhooks/signing-key', { secret: 's' })
    await second.clock.advance(1_000)
    expect((await second.admin('GET', `/admin/groups/${body['id']}`)).body).toMatchObject({
      rpm_limit: 3,
    })
    expect((await second.admin('GET', '/admin/webhooks')).body).toMatchObject({
      enabled: true,
      signed: true,
      settings: { url: 'https://hooks.test/' },
    })
  })

  test('a stored provider key serves the requests of the others', async () => {
    const { first, second } = await pair()
    await first.admin('PUT', '/admin/provider-keys/p', { key: 'sk-stored-by-first' })
    await second.clock.advance(1_000)
    second.upstream.next(used(8, 1))
    const { headers } = await second.key()
    expect((await second.chat(prompt(), { headers })).status).toBe(200)
    expect(second.upstream.requests[0]?.headers['authorization']).toBe('Bearer sk-stored-by-first')
  })

  test('a stored provider key is a reload of each process, and of its own only once', async () => {
    const { first, second } = await pair()
    await first.admin('PUT', '/admin/provider-keys/p', { key: 'sk-stored-by-first' })
    for (const process of [first, second]) {
      await process.clock.advance(6_000)
      const page = await (await process.get('/metrics')).text()
      expect(page).toContain('gateway_config_reloads_total 1\n')
    }
  })

  test('changes in quick succession are read together, and spend alone is not read', async () => {
    const { store, first, second } = await pair()
    await second.clock.advance(250)
    store.calls.length = 0
    for (let count = 0; count < 20; count++) await first.key()
    await second.clock.advance(1_000)
    expect(store.calls.filter((name) => name === 'readAccounts').length).toBeLessThan(5)
    store.calls.length = 0
    await second.clock.advance(10_000)
    expect(store.calls.filter((name) => name === 'readAccounts')).toEqual([])
    expect(store.calls.filter((name) => name === 'readChanges')).toHaveLength(2)
  })

  test('only what has changed is read, whatever else the database has', async () => {
    const { store, first, second } = await pair()
    const keys = []
    for (let count = 0; count < 20; count++) keys.push(await first.key())
    const { body: group } = await first.admin('POST', '/admin/groups', { name: 'g' })
    await second.clock.advance(1_000)
    store.readRows = 0
    const change = { group_id: group['id'], rpm_limit: 5 }
    await first.admin('PATCH', `/admin/keys/${keys[7]?.id}`, change)
    await first.admin('PATCH', `/admin/groups/${group['id']}`, { name: 'h' })
    await second.clock.advance(1_000)
    const { body } = await second.admin('GET', `/admin/keys/${keys[7]?.id}`)
    expect(body).toMatchObject(change)
    expect((await second.admin('GET', `/admin/groups/${group['id']}`)).body['name']).toBe('h')
    expect(store.readRows).toBe(2)
  })

  test('all is read when the database has gone back to an earlier state', async () => {
    const { store, first, second } = await pair()
    const { id } = await first.key()
    await second.clock.advance(1_000)
    store.run(`update virtual_keys set name = 'earlier'; delete from changed_accounts;
      update change_counts set count = 0 where topic = 'accounts'`)
    await second.clock.advance(5_000)
    expect((await second.admin('GET', `/admin/keys/${id}`)).body['name']).toBe('earlier')
  })

  test('a database that fails is asked again, and named once', async () => {
    const { store, first, second } = await pair()
    const key = await first.key()
    store.trouble = 'refuse'
    await second.clock.advance(15_000)
    store.trouble = 'none'
    await second.clock.advance(5_000)
    expect(await status(second, key)).toBe(200)
    const lines = second.log.filter(({ message }) => message.includes('other processes'))
    expect(lines.map(({ message }) => message)).toEqual([
      'changes of other processes cannot be applied',
      'changes of other processes are applied again',
    ])
  })
})

test('without shared state the database is not asked for changes', async () => {
  const { store, clock } = await keyedGateway(pricedProvider)
  store.calls.length = 0
  await clock.advance(20_000)
  expect(store.calls).not.toContain('readChanges')
})
