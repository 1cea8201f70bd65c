import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startLibsqlServer } from '../../../test/support/libsql-server.ts'
import { createKeys, readHeld } from '../harness/accounts.ts'
import { readBooks } from '../harness/books.ts'
import { bookFigures, heldFigures } from '../harness/figures.ts'
import { createGateway } from '../harness/gateway.ts'
import { Load } from '../harness/load.ts'
import { startUpstream } from '../harness/upstream.ts'
import type { Part } from '../part.ts'

export const remote: Part = {
  name: 'remote',
  title: 'The database on a server',
  text: `As the first part, with a libSQL server as the database, so that the journal is in a folder of the gateway. For
up to 2 seconds before every second kill the server does what it is asked but loses its answers, so that the gateway
cannot know whether its rows are saved. The server is the stand-in of the tests.`,
  async run({ random, rounds, progress }) {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-proof-'))
    const path = join(folder, 'server.db')
    const server = await startLibsqlServer({ path })
    try {
      const gateway = await createGateway({
        upstreamPort: await startUpstream(),
        databaseUrl: server.url,
        // The next process must not wait for the lease of the one that was killed.
        args: ['--allow-second'],
      })
      await gateway.start()
      const keys = await createKeys(gateway)
      const load = new Load({ connections: 64, keys, ports: [gateway.port] })
      for (let round = 1; round <= rounds; round++) {
        await sleep(200 + random() * 3_000)
        if (round % 2 === 0) {
          server.loseAnswers(Number.POSITIVE_INFINITY)
          await sleep(random() * 2_000)
        }
        await gateway.kill()
        server.loseAnswers(0)
        await gateway.start()
        progress(`killed ${round} times, ${load.seen.length} requests`)
      }
      await sleep(500)
      await load.stop()
      const held = await readHeld(gateway)
      await gateway.stop()
      const recovered = gateway
        .logLines('has left in its journal')
        .reduce((sum, { rows }) => sum + Number(rows), 0)
      return {
        figures: [
          { title: 'kills', value: rounds },
          { title: 'rows that were only in the journal', value: recovered, holds: recovered > 0 },
          ...bookFigures(readBooks(path, load.seen), load.seen),
          ...heldFigures(held),
        ],
      }
    } finally {
      server.stop()
      rmSync(folder, { recursive: true })
    }
  },
}
