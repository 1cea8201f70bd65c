import { setTimeout as sleep } from 'node:timers/promises'
import { createKeys } from '../harness/accounts.ts'
import { endGateways, recoveredFigure } from '../harness/ended.ts'
import { createGateway } from '../harness/gateway.ts'
import { Load } from '../harness/load.ts'
import { startUpstream } from '../harness/upstream.ts'
import type { Part } from '../part.ts'

export const kill: Part = {
  name: 'kill',
  title: 'One process, killed again and again',
  text: `64 connections, every second request a stream, keys and groups with and without a cap. The process
is killed by SIGKILL at random moments and started again at once. Every answer or refusal that a client saw to
its end must have one row with its cost, and the spend must equal the rows.`,
  async run({ random, rounds, progress }) {
    const gateway = await createGateway({ upstreamPort: await startUpstream() })
    await gateway.start()
    const keys = await createKeys(gateway)
    const load = new Load({ connections: 64, keys, ports: [gateway.port] })
    for (let round = 1; round <= rounds; round++) {
      await sleep(200 + random() * 3_000)
      await gateway.kill()
      await gateway.start()
      progress(`killed ${round} times, ${load.seen.length} requests`)
    }
    await sleep(500)
    await load.stop()
    const ended = await endGateways({ gateways: [gateway], load, path: gateway.database })
    return { figures: [{ title: 'kills', value: rounds }, recoveredFigure([gateway]), ...ended] }
  },
}
