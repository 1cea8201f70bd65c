import { setTimeout as sleep } from 'node:timers/promises'
import { hasRedis, type RedisServer, startRedis } from '../../../test/support/redis.ts'
import { createKeys, raiseCaps, readAccounts, readHeld } from '../harness/accounts.ts'
import { readBooks, sumRows } from '../harness/books.ts'
import { bookFigures, heldFigures } from '../harness/figures.ts'
import { leaseMs, type ProvedGateway, pickOne, startThree } from '../harness/gateway.ts'
import { Load } from '../harness/load.ts'
import { startUpstream } from '../harness/upstream.ts'
import { type Part, zero } from '../part.ts'

export const redis: Part = {
  name: 'redis',
  title: 'Redis stopped, killed and emptied',
  text: `Three gateways share their budgets through a Redis server, under 64 connections. In turn the server is
suspended by SIGSTOP for 3 seconds, longer than a lease; killed by SIGKILL and started again, empty, after 2 seconds;
and emptied by FLUSHALL. Before each fault the small caps are raised, so that the load goes on to spend them. Up to 1.5
seconds after each fault has begun, one of the gateways is killed by SIGKILL as well, and started again. A request may be
refused only with LM-5003 or for a spent budget. A charge for a gateway that was taken for dead, and the row that takes it
back, count as none.`,
  async run({ random, rounds, progress }) {
    if (!hasRedis) return { skipped: 'it needs redis-server' }
    const server = await startRedis()
    try {
      const gateways = await startThree({
        upstreamPort: await startUpstream(),
        sharedUrl: server.url,
      })
      const pick = () => pickOne(gateways, random)
      const keys = await createKeys(pick())
      await sleep(1_500)
      const load = new Load({ connections: 64, keys, ports: gateways.map(({ port }) => port) })
      const times = Math.max(1, Math.round(rounds / 8))
      for (let time = 1; time <= times; time++) {
        for (const [name, fail] of Object.entries(faults)) {
          await sleep(1_000 + random() * 2_000)
          await raiseCaps(pick())
          await sleep(random() * 500)
          await Promise.all([fail(server), restart(pick(), random() * 1_500)])
          progress(`${name} ${time} times, ${load.seen.length} requests`)
        }
      }
      await sleep(2_000)
      await load.stop()
      await sleep(2 * leaseMs)
      const held = await Promise.all(gateways.map(readHeld))
      const shown = (await Promise.all(gateways.map(readAccounts))).flat()
      const up = await Promise.all(gateways.map((each) => each.metric('gateway_shared_state_up')))
      for (const gateway of gateways) await gateway.stop()
      const { database } = gateways[0]
      const books = readBooks(database, load.seen)
      const sums = sumRows(database)
      const away = load.seen.filter(({ end }) => end === 'away').length
      return {
        figures: [
          {
            title: 'times suspended, killed and emptied, each, with a gateway killed',
            value: times,
          },
          { title: 'refusals with LM-5003', value: away, holds: away > 0 },
          zero('of these charged', books.chargedAway),
          { title: 'charges that were taken back', value: books.refunds },
          ...bookFigures(books, load.seen),
          zero(
            'nano-dollars between rows and the spend that the gateways show',
            shown.reduce((sum, { id, nano }) => sum + Math.abs(nano - (sums.get(id) ?? 0)), 0),
          ),
          ...heldFigures({
            requests: held.reduce((sum, { requests }) => sum + requests, 0),
            dollars: held.reduce((sum, { dollars }) => sum + dollars, 0),
          }),
          zero(
            'gateways that have not found the server again',
            up.filter((each) => each !== 1).length,
          ),
        ],
      }
    } finally {
      await server.stop()
    }
  },
}

/** Kills a gateway after a while, and starts it again. */
async function restart(gateway: ProvedGateway, wait: number): Promise<void> {
  await sleep(wait)
  await gateway.kill()
  await gateway.start()
}

const faults: Readonly<Record<string, (server: RedisServer) => Promise<void>>> = {
  async suspended(server) {
    server.pause()
    await sleep(3_000)
    server.resume()
  },
  async killed(server) {
    await server.stop()
    await sleep(2_000)
    await server.start()
  },
  async emptied(server) {
    server.command('FLUSHALL')
  },
}
