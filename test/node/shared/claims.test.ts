import { copyFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { openNodeStore } from '../../../adapters/node/ports/store.ts'
import { systemClock } from '../../../adapters/node/process/system.ts'
import { openRedisState } from '../../../adapters/node/shared/redis-state.ts'
import type { GatewayOptions } from '../../../src/index.ts'
import { testGateway } from '../../support/gateway.ts'
import { masterKey, pricedProvider } from '../../support/keyed-gateway.ts'
import { findFreePort, hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'
import { libsqlServer } from '../support/libsql-server.ts'
import { connect, folder, threadEntry } from '../support/store.ts'

/** Opens a gateway whose `[shared]` has this address. */
async function open(path: string, url: string, options: Partial<GatewayOptions> = {}) {
  const config = `${pricedProvider}
    [shared]
    url = "${url}"
    [auth]
    enabled = true`
  const { gateway } = await testGateway(config, {
    env: { GATEWAY_MASTER_KEY: masterKey, P_KEY: 'k' },
    clock: systemClock,
    openStore: (settings) =>
      openNodeStore(
        { ...settings, path, journalFolder: undefined },
        { entry: threadEntry, lease: 1_500 },
      ),
    openShared: openRedisState,
    ...options,
  })
  onTestFinished(async () => {
    await gateway.close()
  })
  return gateway
}

const refusal = /which shares its state: .*; the state of this one is .*, where the other one does/

describe.skipIf(!hasRedis)('another name of a shared state', () => {
  let redis: RedisServer
  let byName: string

  beforeAll(async () => {
    redis = await startRedis('--dir', folderOfServer, '--dbfilename', 'claims-test.rdb')
    byName = `redis://localhost:${redis.port}`
  })

  beforeEach(() => void redis.command('flushall'))

  afterAll(() => redis.stop())

  test.each(['a file', 'a server'])(
    'a gateway joins those whose name leads to the same server, on %s, also after others have left',
    async (what) => {
      const path = what === 'a file' ? join(folder(), 'gateway.db') : (await libsqlServer()).url
      const first = await open(path, redis.url)
      await open(path, byName)
      await first.close()
      // It meets the second one, which has another name than this one.
      await expect(open(path, redis.url.replace('127.0.0.1', '127.1'))).resolves.toBeDefined()
    },
  )

  test('gateways with different names start at the same moment', async () => {
    const path = join(folder(), 'gateway.db')
    const all = Promise.all([redis.url, byName, redis.url].map((url) => open(path, url)))
    await expect(all).resolves.toHaveLength(3)
  })

  test('a gateway joins others although the server has lost all data', async () => {
    const path = join(folder(), 'gateway.db')
    await open(path, redis.url)
    redis.command('flushall')
    await expect(open(path, byName)).resolves.toBeDefined()
  })

  test('another database of the same server is another state', async () => {
    const path = join(folder(), 'gateway.db')
    await open(path, redis.url)
    await expect(open(path, `${byName}/1`)).rejects.toThrow(refusal)
  })

  test('a server with a copy of all data is another state', async () => {
    const path = join(folder(), 'gateway.db')
    await open(path, redis.url)
    await open(path, byName)
    // The copy has the question and the answer with which the second gateway joined.
    redis.command('save')
    copyFileSync(join(folderOfServer, 'claims-test.rdb'), join(folderOfServer, 'claims-copy.rdb'))
    const copy = await startRedis('--dir', folderOfServer, '--dbfilename', 'claims-copy.rdb')
    onTestFinished(() => copy.stop())
    expect(copy.command('keys', '*claims:answers*')).not.toBe('')
    await expect(open(path, copy.url)).rejects.toThrow(refusal)
  })

  test('the state of gateways that use another database is not that of the holders', async () => {
    const path = join(folder(), 'gateway.db')
    const other = await startRedis()
    onTestFinished(() => other.stop())
    await open(path, redis.url)
    await open(join(folder(), 'gateway.db'), other.url)
    await expect(open(path, other.url)).rejects.toThrow(refusal)
  })

  test('nothing is compared while the server is away', async () => {
    const path = join(folder(), 'gateway.db')
    await open(path, redis.url)
    const away = open(path, `redis://127.0.0.1:${await findFreePort()}`)
    await expect(away).rejects.toThrow('which is away, so the two cannot be compared')
  })

  test('a gateway that was let in beside others does not answer for their claim', async () => {
    const path = join(folder(), 'gateway.db')
    const other = await startRedis()
    onTestFinished(() => other.stop())
    await open(path, redis.url)
    await open(path, other.url, { allowSecond: true })
    await expect(open(path, other.url)).rejects.toThrow(refusal)
  })

  test('localhost of another machine is another server', async () => {
    const path = join(folder(), 'gateway.db')
    const holder = connect(`${path}-lock`)
    const state = { id: 'a', prefix: 'gateway', address: '127.0.0.1:6379 of canary', database: 0 }
    await holder.execute('create table claim (sharing text)')
    await holder.execute({ sql: 'insert into claim values (?)', args: [JSON.stringify(state)] })
    const held = await holder.transaction('read')
    await held.execute('select * from claim')
    await expect(open(path, 'redis://127.0.0.1:6379')).rejects.toThrow(
      `127.0.0.1:6379 of canary, database 0; the state of this one is prefix "gateway" on 127.0.0.1:6379 of ${hostname()}`,
    )
    held.close()
  })
})

/** For the files of the servers. */
const folderOfServer = tmpdir()
