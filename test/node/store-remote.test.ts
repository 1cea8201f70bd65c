import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { type Store, StoreFault } from '../../src/store/index.ts'
import { groupId, keyId, newGroup, newKey, usageRow, usd } from '../store/support/rows.ts'
import { auditEntry } from '../support/audit.ts'
import { usageBatch } from '../support/usage-batch.ts'
import { libsqlServer } from './support/libsql-server.ts'
import { openStore, threadEntry } from './support/store.ts'

function opened(url: string, token?: string): Promise<Store> {
  return openStore(url, { entry: threadEntry, token })
}

const everything = { since: 0, until: 1e9 }

describe('a libSQL server', () => {
  test('the server gets the token, and creates the tables once', async () => {
    const server = await libsqlServer()
    await (await opened(server.url, 'secret-token')).close()
    const store = await opened(server.url, 'secret-token')
    expect(await store.readAccounts()).toEqual({ keys: [], groups: [] })
    expect([...server.tokens]).toEqual(['Bearer secret-token'])
  })

  test('the server stores what a file stores', async () => {
    const { url } = await libsqlServer()
    const store = await opened(url)
    await store.createGroup(newGroup('g'))
    const key = newKey('a', { groupId: groupId('g'), budgetMax: usd(1.999999999) })
    expect(await store.createKey(key)).toMatchObject({ groupId: 'g', budgetMax: usd(1.999999999) })
    expect(await store.grantKey(keyId('a'), usd(0.000000002))).toMatchObject({
      budgetMax: usd(2.000000001),
    })
    expect(await store.createKey(newKey('b', { groupId: groupId('x') }))).toBe('unknown-group')
    expect(await store.deleteGroup(groupId('g'), 1)).toBe('has-members')
    const additions = [{ scope: 'key', id: 'a', amount: usd(0.75) }] as const
    for (const id of ['1', '2', '2']) await store.addSpend({ id, additions })
    expect((await store.readAccounts()).keys).toMatchObject([
      { disabled: false, budgetSpent: usd(1.5) },
    ])

    const rows = [usageRow({ stream: true, cost: usd(1.5) }), usageRow({ metadata: { a: 'b' } })]
    for (const id of ['3', '3']) await store.addUsage(usageBatch(id, rows))
    expect(await store.listUsage({ ...everything, cursor: 0, limit: 10 })).toEqual(
      rows.map((row, at) => ({ id: at + 1, ...row })),
    )
    const [sum] = await store.sumUsage({ ...everything, groupBy: 'model', limit: 10 })
    expect(sum).toMatchObject({ group: 'gpt', requests: 2, tokensIn: 20, cost: usd(1.501) })
    expect(await store.purgeUsage(5_000, 10)).toBe(2)

    const change = { ...auditEntry, action: 'key.update' } as const
    await store.audited(change).updateKey(keyId('a'), { name: 'new' })
    await store.audited(change).updateKey(keyId('none'), { name: 'new' })
    expect(await store.listAudit({ ...everything, cursor: 0, limit: 10 })).toEqual([
      { ...change, id: 1 },
    ])

    await store.putSealed({ purpose: 'canary', name: 'n', sealed: 's', updatedAt: 1 })
    expect(await store.readSealed('canary')).toHaveLength(1)
    await store.putWebhookSettings({ enabled: true, settings: '{}', updatedAt: 1 })
    expect(await store.readWebhookSettings()).toMatchObject({ enabled: true })
  })

  test('each change is sent as one write transaction', async () => {
    const server = await libsqlServer()
    const store = await opened(server.url)
    server.frames.clear()
    await store.createKey(newKey('a'))
    await store.addUsage(usageBatch('1', [usageRow()]))
    expect([...server.frames]).toEqual(['BEGIN IMMEDIATE; COMMIT; ROLLBACK'])
  })

  test('a write whose connection was cut is sent again, and written once', async () => {
    const server = await libsqlServer()
    const store = await opened(server.url)
    const batch = usageBatch('1', [usageRow()])
    server.loseAnswers(1)
    await expect(store.addUsage(batch)).rejects.toThrow(StoreFault)
    await store.addUsage(batch)
    expect(await store.listUsage({ ...everything, cursor: 0, limit: 10 })).toHaveLength(1)
  })

  test('an unreachable server is named by its host only', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    const opening = opened(`http://127.0.0.1:${port}/path?authToken=secret`, 'secret')
    await expect(opening).rejects.toMatchObject({
      message:
        `cannot open the database at 127.0.0.1:${port}: ` +
        'the database server cannot be reached (ECONNREFUSED)',
      code: 'ECONNREFUSED',
    })
  })

  test('calls to a silent server end when they are abandoned', async () => {
    const server = await libsqlServer()
    const store = await opened(server.url)
    server.hold()
    const writing = store.addUsage(usageBatch('1', [usageRow()]))
    await expect.poll(() => server.held).toBe(1)
    const start = performance.now()
    store.abandon()
    await expect(writing).rejects.toMatchObject({
      message: 'the database server did not respond in time',
    })
    await store.close()
    expect(performance.now() - start).toBeLessThan(4_000)
  })
})
