import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type LibsqlServer, startLibsqlServer } from '../../../test/support/libsql-server.ts'
import { hasRedis, type RedisServer, startRedis } from '../../../test/support/redis.ts'
import { createKeys } from '../harness/accounts.ts'
import { endGateways, recoveredFigure } from '../harness/ended.ts'
import { leaseMs, pickOne, startThree } from '../harness/gateway.ts'
import { Load } from '../harness/load.ts'
import { startUpstream } from '../harness/upstream.ts'
import type { Outcome, Part, PartOptions } from '../part.ts'

export const remote: Part = {
  name: 'remote',
  title: 'Three machines, and the database on a server',
  text: `Three gateways share their budgets through a Redis server, with a libSQL server as the database. Each has the
journal in a folder of its own, as on a machine of its own: what it leaves there, no other gateway can find. At random
moments one of them is killed by SIGKILL, and started again up to two leases later, so that the others charge what was
running there while its next process reads the journal. For up to 2 seconds before every second kill the database server
does what it is asked but loses its answers, so that the gateways cannot know whether their rows are saved. A charge for a
gateway that was taken for dead, and the row that takes it back, count as none. The database server is the stand-in of
the tests.`,
  async run(options) {
    if (!hasRedis) return { skipped: 'it needs redis-server' }
    const folder = mkdtempSync(join(tmpdir(), 'gateway-proof-'))
    const path = join(folder, 'server.db')
    const server = await startLibsqlServer({ path })
    const redis = await startRedis()
    try {
      return await killOneByOne({ ...options, server, redis, path })
    } finally {
      await redis.stop()
      server.stop()
      rmSync(folder, { recursive: true })
    }
  },
}

interface RemoteOptions extends PartOptions {
  readonly server: LibsqlServer
  readonly redis: RedisServer
  readonly path: string
}

async function killOneByOne(options: RemoteOptions): Promise<Outcome> {
  const { random, rounds, progress, server, redis, path } = options
  const gateways = await startThree({
    upstreamPort: await startUpstream(),
    databaseUrl: server.url,
    sharedUrl: redis.url,
    // No row is dropped while the database does not answer.
    auth: 'usage_channel_capacity = 200000',
  })
  const keys = await createKeys(pickOne(gateways, random))
  await sleep(1_500)
  const load = new Load({ connections: 64, keys, ports: gateways.map(({ port }) => port) })
  for (let round = 1; round <= rounds; round++) {
    await sleep(200 + random() * 3_000)
    if (round % 2 === 0) {
      server.loseAnswers(Number.POSITIVE_INFINITY)
      await sleep(random() * 2_000)
    }
    const gateway = pickOne(gateways, random)
    await gateway.kill()
    server.loseAnswers(0)
    await sleep(random() * 2 * leaseMs)
    await gateway.start()
    progress(`killed ${round} times, ${load.seen.length} requests`)
  }
  await load.stop()
  await sleep(2 * leaseMs)
  const ended = await endGateways({ gateways, load, path })
  const charges = gateways.flatMap((each) => each.logLines('whose gateway has died')).length
  return {
    figures: [
      { title: 'kills', value: rounds },
      recoveredFigure(gateways),
      { title: 'charges for a killed gateway', value: charges, holds: charges > 0 },
      ...ended,
    ],
  }
}
