import { setTimeout as sleep } from 'node:timers/promises'
import { createKeys } from '../harness/accounts.ts'
import { lockDatabase } from '../harness/books.ts'
import { endGateways } from '../harness/ended.ts'
import { createGateway } from '../harness/gateway.ts'
import { Load } from '../harness/load.ts'
import { startUpstream } from '../harness/upstream.ts'
import { type Part, zero } from '../part.ts'

export const locked: Part = {
  name: 'locked',
  title: 'The database locked by another process',
  text: `Under 64 connections another process keeps the write lock of the database for 8 seconds at a time, while
the queue of the usage log holds 5,000 rows, so that rows are dropped from it. At the end of each time the gateway is
killed. No request may fail, and the next start must save every answer, the dropped rows too. Of refusals, which
cost nothing, the journal keeps only those that the queue took.`,
  async run({ random, rounds, progress }) {
    // Enough without a lock: a row that is dropped then leaves only its spend.
    const auth = 'usage_channel_capacity = 5000\nflush_interval_ms = 1000'
    const gateway = await createGateway({ upstreamPort: await startUpstream(), auth })
    await gateway.start()
    const keys = await createKeys(gateway)
    const load = new Load({ connections: 64, keys, ports: [gateway.port] })
    const times = Math.max(1, Math.round(rounds / 5))
    let dropped = 0
    for (let time = 1; time <= times; time++) {
      await sleep(500 + random() * 1_000)
      const unlock = lockDatabase(gateway.database)
      await sleep(8_000)
      dropped += await gateway.metric('gateway_usage_log_dropped_total')
      await gateway.kill()
      unlock()
      await gateway.start()
      progress(`locked ${time} times, ${load.seen.length} requests`)
    }
    await load.stop()
    const unjournaled = await gateway.metric('gateway_usage_unjournaled_total')
    const ended = await endGateways({ gateways: [gateway], load, path: gateway.database })
    return {
      figures: [
        { title: 'locks of 8 seconds, each with a kill', value: times },
        { title: 'rows dropped from the queue', value: dropped, holds: dropped > 0 },
        zero('rows that the journal could not keep', unjournaled),
        ...ended,
      ],
    }
  },
}
