import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { openMasterKey } from '../../src/auth/index.ts'
import type { Sealer } from '../../src/wire/seal.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { command } from './support/command.ts'
import { connect, folder, threadEntry } from './support/store.ts'

const keys = ['1a'.repeat(32), '2b'.repeat(32)] as const

/** Stores 50 provider keys, then rotates the master key back and forth without end. */
const rotator = (path: string) => `
  import { openNodeStore } from './adapters/node/ports/store.ts'
  import { checkMasterKey, openMasterKey, rotateMasterKey } from './src/auth/index.ts'
  const entry = new URL(${JSON.stringify(threadEntry.href)})
  const store = await openNodeStore({ path: ${JSON.stringify(path)} }, { entry })
  const [a, b] = await Promise.all(${JSON.stringify(keys)}.map((key) => openMasterKey(key)))
  const row = { ts: 1, action: 'master_key.rotate', subjectId: null, requestId: null, client: null }
  const rotate = (from, to) => rotateMasterKey({ store, from: from.sealer, to: to.sealer, entry: row })
  if ((await store.readSealed('canary')).length === 0) {
    await checkMasterKey(store, { sealer: a.sealer, clock: { now: () => 0 } })
    for (let at = 0; at < 50; at++) {
      const label = { purpose: 'provider-key', name: 'p' + at }
      const sealed = await a.sealer.seal(label, 'secret ' + at)
      await store.putSealed({ ...label, sealed, updatedAt: 1 })
    }
  }
  for (;;) {
    const { kind } = await rotate(a, b)
    if (kind !== 'rotated' && kind !== 'already-rotated') throw new Error(kind)
    await rotate(b, a)
    console.log('rotated')
  }
`

test('a process that is killed during a rotation leaves all secrets under one master key', async () => {
  const random = seededRandom()
  const directory = folder()
  const path = join(directory, 'gateway.db')
  const script = join(directory, 'rotator.mjs')
  await build({
    stdin: { contents: rotator(path), resolveDir: process.cwd(), loader: 'ts' },
    outfile: script,
    bundle: true,
    format: 'esm',
    platform: 'node',
  })
  const sealers = await Promise.all(keys.map(async (key) => (await openMasterKey(key)).sealer))
  for (let round = 0; round < 5; round++) {
    const running = command([script])
    await running.until(/^rotated\n/)
    await sleep(random() * 100)
    const gone = new Promise((resolve) => running.process.once('close', resolve))
    running.process.kill('SIGKILL')
    await gone
    const { rows } = await connect(path).execute('select purpose, name, sealed from sealed_values')
    expect(rows).toHaveLength(51)
    const counts = await Promise.all(sealers.map((sealer) => countOpened(sealer, rows)))
    expect(counts.sort((a, b) => a - b)).toEqual([0, 51])
  }
}, 60_000)

async function countOpened(
  sealer: Sealer,
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<number> {
  const opened = rows.map(({ purpose, name, sealed }) =>
    sealer.open({ purpose: String(purpose), name: String(name) }, String(sealed)).then(
      () => 1,
      () => 0,
    ),
  )
  return (await Promise.all(opened)).reduce((sum, each) => sum + each, 0)
}
