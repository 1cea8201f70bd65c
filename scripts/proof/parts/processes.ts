import { setTimeout as sleep } from 'node:timers/promises'
import { hasRedis, startRedis } from '../../../test/support/redis.ts'
import { createKeys } from '../harness/accounts.ts'
import { endGateways } from '../harness/ended.ts'
import { leaseMs, pickOne, startThree } from '../harness/gateway.ts'
import { Load } from '../harness/load.ts'
import { startUpstream } from '../harness/upstream.ts'
import type { Part } from '../part.ts'

export const processes: Part = {
  name: 'processes',
  title: 'Three processes, one of them killed',
  text: `Three gateways share their budgets through a Redis server, under 64 connections. At random moments one
of them is killed by SIGKILL and started again. Its reservations end with their lease, no cap is passed, and the
books hold as for one process.`,
  async run({ random, rounds, progress }) {
    if (!hasRedis) return { skipped: 'it needs redis-server' }
    const redis = await startRedis()
    try {
      const gateways = await startThree({
        upstreamPort: await startUpstream(),
        sharedUrl: redis.url,
      })
      const pick = () => pickOne(gateways, random)
      const keys = await createKeys(pick())
      await sleep(1_500)
      const load = new Load({ connections: 64, keys, ports: gateways.map(({ port }) => port) })
      const kills = Math.max(1, Math.round(rounds / 2))
      for (let round = 1; round <= kills; round++) {
        await sleep(200 + random() * 3_000)
        const gateway = pick()
        await gateway.kill()
        await gateway.start()
        progress(`killed ${round} times, ${load.seen.length} requests`)
      }
      await load.stop()
      await sleep(2 * leaseMs)
      const ended = await endGateways({ gateways, load, path: gateways[0].database })
      return { figures: [{ title: 'kills', value: kills }, ...ended] }
    } finally {
      await redis.stop()
    }
  },
}
