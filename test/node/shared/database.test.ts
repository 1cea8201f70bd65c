import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openNodeStore } from '../../../adapters/node/ports/store.ts'
import { systemClock } from '../../../adapters/node/process/system.ts'
import { openRedisState } from '../../../adapters/node/shared/redis-state.ts'
import { gatewayGroup, type Member } from '../../support/gateway-group.ts'
import { masterKey, pricedProvider } from '../../support/keyed-gateway.ts'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'
import { SharedServer } from '../../support/shared-server.ts'
import { libsqlServer } from '../support/libsql-server.ts'
import { folder, threadEntry } from '../support/store.ts'

let redis: RedisServer | undefined

beforeAll(async () => {
  if (hasRedis) redis = await startRedis()
})

afterAll(async () => {
  await redis?.stop()
})

const env = { GATEWAY_MASTER_KEY: masterKey, P_KEY: 'k' }

/** Gateways on one database, each with a connection of its own. */
function group(path: string) {
  const server = new SharedServer()
  return gatewayGroup(pricedProvider, {
    env,
    clock: systemClock,
    openStore: (settings) =>
      openNodeStore({ ...settings, path, journalFolder: undefined }, { entry: threadEntry }),
    openShared: (settings) =>
      redis ? openRedisState({ ...settings, url: redis.url }) : server.open(),
  })
}

describe.each(['a file', 'a server'])('gateways that share their state and %s', (what) => {
  const prepare = async () =>
    what === 'a file' ? join(folder(), 'gateway.db') : (await libsqlServer()).url

  test('they start at the same moment, and each applies the changes of the others', async () => {
    const { open } = group(await prepare())
    const [first, second, third] = await Promise.all([open(), open(), open()])
    const key = await first.key()
    const status = async ({ get }: Member) => (await get('/v1/models', key)).status
    await expect.poll(() => status(second)).toBe(200)
    await expect.poll(() => status(third)).toBe(200)
    await third.admin('PATCH', `/admin/keys/${key.id}`, { disabled: true })
    await expect.poll(() => status(first)).toBe(401)
    await second.admin('PATCH', `/admin/keys/${key.id}`, { disabled: false, rpm_limit: 9 })
    await expect.poll(() => status(first)).toBe(200)
    expect((await first.admin('GET', `/admin/keys/${key.id}`)).body).toMatchObject({ rpm_limit: 9 })
  })

  test('changes of all at once are all kept', async () => {
    const { open } = group(await prepare())
    const members = await Promise.all([open(), open()])
    await Promise.all(members.flatMap((member) => [1, 2, 3, 4, 5].map(() => member.key())))
    for (const member of members) {
      const count = async () => {
        const { body } = await member.admin('GET', '/admin/keys')
        return (body['keys'] as readonly unknown[]).length
      }
      await expect.poll(count).toBe(10)
    }
  })
})
