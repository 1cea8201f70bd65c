import {
  appendFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  type WatchOptions,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { startReloadTriggers } from '../../adapters/node/config/reload-triggers.ts'
import { ManualClock, settled } from '../support/manual-clock.ts'

const system = vi.hoisted(() => ({ hasWatches: true }))

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>()
  const watch = (path: string, options: WatchOptions) => {
    if (system.hasWatches) return fs.watch(path, options)
    throw Object.assign(new Error('no watches left'), { code: 'ENOSPC' })
  }
  return { ...fs, watch }
})

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'gateway-watch-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** The time without changes before a file is read, in milliseconds. */
const stillness = 250

/** Watches a path and counts reloads. On its manual clock the test ends the wait after a change. */
async function watched(path: string, refreshed = () => {}) {
  const clock = new ManualClock()
  const count = { reloads: 0, refreshes: 0 }
  const triggers = startReloadTriggers({
    path,
    clock,
    reload: async () => void count.reloads++,
    async refresh() {
      count.refreshes++
      refreshed()
    },
  })
  onTestFinished(() => triggers.close())
  // Discards the first check and late notifications of earlier changes.
  await wait(20)
  await clock.advance(2 * stillness)
  count.refreshes = 0
  return {
    clock,
    count,
    triggers,
    /** Waits for the notification of the system, then advances past the wait. */
    async expectNoticed() {
      await vi.waitFor(() => expect(clock.pending).toBe(1), { interval: 5, timeout: 10_000 })
      await clock.advance(stillness)
      expect(count.refreshes).toBe(1)
      count.refreshes = 0
      // Renewed watches may cause one more refresh.
      await wait(20)
      await clock.advance(2 * stillness)
      count.refreshes = 0
    },
    /** Gives the system time to notify, and checks that the gateway ignores it. */
    async expectUnnoticed() {
      await wait(50)
      expect(clock.pending).toBe(0)
    },
  }
}

describe('a change of the file triggers a reload', () => {
  test('the file may be written in place, repeatedly', async () => {
    const path = join(folder(), 'config.toml')
    writeFileSync(path, 'a')
    const { expectNoticed } = await watched(path)
    for (const text of ['b', 'c', 'd']) {
      writeFileSync(path, text)
      await expectNoticed()
    }
    appendFileSync(path, 'e')
    await expectNoticed()
  })

  test('the file may be written in place under another name, as through a mount of the file alone', async () => {
    const [path, other] = [join(folder(), 'config.toml'), join(folder(), 'other.toml')]
    writeFileSync(path, 'a')
    linkSync(path, other)
    const { expectNoticed } = await watched(path)
    writeFileSync(other, 'b')
    await expectNoticed()
    writeFileSync(other, 'c')
    await expectNoticed()
  })

  test('the file may be replaced by a rename, repeatedly', async () => {
    const path = join(folder(), 'config.toml')
    writeFileSync(path, 'a')
    const { expectNoticed } = await watched(path)
    for (const text of ['b', 'c', 'd']) {
      writeFileSync(`${path}.swp`, text)
      renameSync(`${path}.swp`, path)
      await expectNoticed()
    }
    writeFileSync(path, 'e')
    await expectNoticed()
  })

  test('the file may be deleted and created again', async () => {
    const path = join(folder(), 'config.toml')
    writeFileSync(path, 'a')
    const { expectNoticed } = await watched(path)
    unlinkSync(path)
    await expectNoticed()
    writeFileSync(path, 'b')
    await expectNoticed()
    writeFileSync(path, 'c')
    await expectNoticed()
  })

  test('the file may be mounted by Kubernetes, which swaps a link of the folder', async () => {
    const home = folder()
    const version = (name: string, text: string) => {
      mkdirSync(join(home, name))
      writeFileSync(join(home, name, 'config.toml'), text)
      symlinkSync(name, join(home, '..data_tmp'))
      renameSync(join(home, '..data_tmp'), join(home, '..data'))
    }
    version('..2026_1', 'a')
    symlinkSync('..data/config.toml', join(home, 'config.toml'))
    const { expectNoticed } = await watched(join(home, 'config.toml'))
    version('..2026_2', 'b')
    await expectNoticed()
    rmSync(join(home, '..2026_1'), { recursive: true })
    version('..2026_3', 'c')
    await expectNoticed()
    writeFileSync(join(home, '..2026_3', 'config.toml'), 'd')
    await expectNoticed()
  })

  test('the file may be the target of a link in another folder, and the link may change', async () => {
    const [home, other] = [folder(), folder()]
    const path = join(home, 'config.toml')
    writeFileSync(join(other, 'real.toml'), 'a')
    writeFileSync(join(other, 'next.toml'), 'b')
    symlinkSync(join(other, 'real.toml'), path)
    const { expectNoticed } = await watched(path)
    writeFileSync(join(other, 'real.toml'), 'c')
    await expectNoticed()
    symlinkSync(join(other, 'next.toml'), join(home, 'tmp'))
    renameSync(join(home, 'tmp'), path)
    await expectNoticed()
    writeFileSync(join(other, 'next.toml'), 'd')
    await expectNoticed()
  })

  test('the folder may vanish, return, and be replaced', async () => {
    const home = join(folder(), 'etc')
    const path = join(home, 'config.toml')
    mkdirSync(home)
    writeFileSync(path, 'a')
    const { expectNoticed } = await watched(path)
    rmSync(home, { recursive: true })
    await expectNoticed()
    mkdirSync(home)
    await expectNoticed()
    writeFileSync(path, 'b')
    await expectNoticed()
    renameSync(home, `${home}.old`)
    mkdirSync(home)
    writeFileSync(path, 'c')
    await expectNoticed()
    writeFileSync(path, 'd')
    await expectNoticed()
  })

  test('a folder may have had the name of the file, as Docker creates one for a missing file', async () => {
    const path = join(folder(), 'config.toml')
    writeFileSync(path, 'a')
    const { expectNoticed } = await watched(path)
    unlinkSync(path)
    await expectNoticed()
    mkdirSync(path)
    await expectNoticed()
    rmSync(path, { recursive: true })
    await expectNoticed()
    for (const text of ['b', 'c']) {
      writeFileSync(path, text)
      await expectNoticed()
    }
  })

  test('a cycle of links is waited out without an error', async () => {
    const home = folder()
    symlinkSync('b', join(home, 'a'))
    symlinkSync('a', join(home, 'b'))
    const { expectNoticed } = await watched(join(home, 'a'))
    unlinkSync(join(home, 'b'))
    writeFileSync(join(home, 'b'), 'at last')
    await expectNoticed()
  })
})

test('other files of the folder, such as the database, do not trigger a reload', async () => {
  const home = folder()
  const path = join(home, 'config.toml')
  writeFileSync(path, 'a')
  const { expectUnnoticed } = await watched(path)
  writeFileSync(join(home, 'gateway.db-wal'), 'x')
  writeFileSync(join(home, 'config.toml.bak'), 'x')
  await expectUnnoticed()
})

test('several steps of one change trigger one reload', async () => {
  const path = join(folder(), 'config.toml')
  writeFileSync(path, 'a')
  const { clock, count } = await watched(path)
  const step = async (text: string) => {
    writeFileSync(`${path}.new`, text)
    renameSync(`${path}.new`, path)
    await wait(100)
    await clock.advance(stillness - 1)
  }
  await step('')
  await step('b')
  await step('bc')
  expect(count.refreshes).toBe(0)
  await clock.advance(stillness)
  expect(count.refreshes).toBe(1)
})

test('a file that is emptied and written a moment later is read once, whole', async () => {
  const path = join(folder(), 'config.toml')
  writeFileSync(path, 'a')
  const read: string[] = []
  const { clock } = await watched(path, () => void read.push(readFileSync(path, 'utf8')))
  read.length = 0
  writeFileSync(path, '')
  await vi.waitFor(() => expect(clock.pending).toBe(1), { interval: 5, timeout: 10_000 })
  await clock.advance(100)
  writeFileSync(path, 'whole')
  await wait(50)
  await clock.advance(stillness)
  expect(read).toEqual(['whole'])
})

test('a write that the system does not report is still waited for', async () => {
  system.hasWatches = false
  onTestFinished(() => {
    system.hasWatches = true
  })
  const path = join(folder(), 'config.toml')
  writeFileSync(path, 'a')
  const read: string[] = []
  const { clock } = await watched(path, () => void read.push(readFileSync(path, 'utf8')))
  read.length = 0
  writeFileSync(path, '')
  // Until the next periodic check.
  await clock.advance(1000 - stillness)
  writeFileSync(path, 'whole')
  await clock.advance(stillness)
  expect(read).toEqual([])
  await clock.advance(stillness)
  expect(read).toEqual(['whole'])
})

test('the file is checked once at the start, since it may have changed after it was read', async () => {
  const path = join(folder(), 'config.toml')
  writeFileSync(path, 'a')
  const clock = new ManualClock()
  let refreshes = 0
  const triggers = startReloadTriggers({
    path,
    clock,
    reload: async () => {},
    refresh: async () => void refreshes++,
  })
  onTestFinished(() => triggers.close())
  await clock.advance(stillness)
  expect(refreshes).toBe(1)
})

test('without available watches the file is polled every second', async () => {
  system.hasWatches = false
  onTestFinished(() => {
    system.hasWatches = true
  })
  const path = join(folder(), 'config.toml')
  writeFileSync(path, 'a')
  const { clock, count } = await watched(path)
  await clock.advance(3000)
  expect(count.refreshes).toBe(3)
  system.hasWatches = true
  await clock.advance(1000)
  expect(clock.pending).toBe(0)
})

test('SIGHUP reloads regardless of the state of the file', async () => {
  const { count } = await watched(join(folder(), 'config.toml'))
  process.emit('SIGHUP')
  await settled()
  expect(count).toEqual({ reloads: 1, refreshes: 0 })
})

test('triggers during a reload cause one more reload after it', async () => {
  const ends: Array<() => void> = []
  const triggers = startReloadTriggers({
    path: join(folder(), 'config.toml'),
    reload: () => new Promise<void>((resolve) => ends.push(resolve)),
    refresh: async () => {},
  })
  onTestFinished(() => triggers.close())
  for (let signal = 0; signal < 5; signal++) process.emit('SIGHUP')
  await settled()
  expect(ends).toHaveLength(1)
  ends[0]?.()
  await settled()
  expect(ends).toHaveLength(2)
  ends[1]?.()
  await settled()
  expect(ends).toHaveLength(2)
})

test('a closed trigger ignores signals and changes', async () => {
  const before = process.listenerCount('SIGHUP')
  const path = join(folder(), 'config.toml')
  writeFileSync(path, 'a')
  const { clock, triggers, count } = await watched(path)
  writeFileSync(path, 'b')
  await vi.waitFor(() => expect(clock.pending).toBe(1), { interval: 5, timeout: 10_000 })
  triggers.close()
  writeFileSync(path, 'c')
  await wait(30)
  expect(clock.pending).toBe(0)
  expect(count.refreshes).toBe(0)
  expect(process.listenerCount('SIGHUP')).toBe(before)
})
