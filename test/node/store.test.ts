import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { build } from 'esbuild'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openNodeStore } from '../../adapters/node/ports/store.ts'
import { type Store, StoreFault, type StoreSettings } from '../../src/store/index.ts'
import { newKey, usageRow } from '../store/support/rows.ts'
import { usageBatch } from '../support/usage-batch.ts'
import { setVariables } from './support/cli.ts'
import { command, finished } from './support/command.ts'
import { folder, openStore, threadEntry, valueOf } from './support/store.ts'

function opened(path = join(folder(), 'gateway.db')): Promise<Store> {
  return openStore(path, { entry: threadEntry })
}

const everything = { since: 0, until: 1e9, cursor: 0 }

describe('a database file', () => {
  test('the program can open it when it runs from the source as well', async () => {
    setVariables({ BUILT_STORE_WORKER: undefined })
    const store = await openNodeStore({ path: join(folder(), 'gateway.db'), token: undefined })
    expect(await store.createKey(newKey('a'))).toMatchObject({ id: 'a', budgetSpent: 0n })
    await store.close()
  })

  test('the file and the files of SQLite beside it are private', async () => {
    const path = join(folder(), 'gateway.db')
    await opened(path)
    const modes = ['', '-wal', '-shm'].map((end) => statSync(path + end).mode & 0o777)
    expect(modes).toEqual([0o600, 0o600, 0o600])
  })

  test('the file may be named by a URL, and keeps its rows', async () => {
    const directory = folder()
    const path = join(directory, 'with blank#?%.db')
    const first = await opened(new URL(`file://${directory}/with%20blank%23%3F%25.db`).href)
    await first.createKey(newKey('a'))
    await first.close()
    const second = await opened(`file:${directory}/with%20blank%23%3F%25.db`)
    expect((await second.readAccounts()).keys).toHaveLength(1)
    expect(statSync(path).size).toBeGreaterThan(0)
  })

  test('the file commits durably, with a write-ahead log', async () => {
    const path = join(folder(), 'gateway.db')
    await opened(path)
    expect(await valueOf(path, 'pragma journal_mode')).toBe('wal')
  })
})

describe('calls', () => {
  test('calls run in the order in which they are made', async () => {
    const store = await opened()
    const names = Array.from({ length: 50 }, (_, at) => `name ${at}`)
    const [, ...updates] = await Promise.all([
      store.createKey(newKey('a')),
      ...names.map((name) => store.updateKey(newKey('a').id, { name })),
    ])
    expect(updates).toEqual(names.map((name) => expect.objectContaining({ name })))
  })

  test('long lists arrive whole and in order', async () => {
    const store = await opened()
    await store.addUsage(
      usageBatch(
        '1',
        Array.from({ length: 2_600 }, (_, at) => usageRow({ latencyMs: at })),
      ),
    )
    const rows = await store.listUsage({ ...everything, limit: 10_000 })
    expect(rows.map(({ latencyMs }) => latencyMs)).toEqual([...Array(2_600).keys()])
    const ids = Array.from({ length: 600 }, (_, at) => `key ${at}`)
    await Promise.all(ids.map((id) => store.createKey(newKey(id))))
    expect((await store.readAccounts()).keys.map(({ id }) => id)).toEqual(ids)
  })

  test('calls finish before the database closes, and are refused afterwards', async () => {
    const path = join(folder(), 'gateway.db')
    const store = await opened(path)
    const writes = ['1', '2', '3'].map((id) => store.addUsage(usageBatch(id, [usageRow()])))
    await Promise.all([store.close(), store.close()])
    await Promise.all(writes)
    await expect(store.readAccounts()).rejects.toThrow(new StoreFault('the database is closed'))
    expect(await valueOf(path, 'select count(*) from usage_log')).toBe(3)
  })

  test('running calls keep the process alive; an open store does not', async () => {
    const script = join(folder(), 'script.mjs')
    await build({
      stdin: {
        contents: `
          import { openNodeStore } from './adapters/node/ports/store.ts'
          const entry = new URL(${JSON.stringify(threadEntry.href)})
          const store = await openNodeStore({ path: 'gateway.db' }, { entry })
          store.readAccounts().then(() => console.log('answered'))
        `,
        resolveDir: process.cwd(),
      },
      outfile: script,
      bundle: true,
      format: 'esm',
      platform: 'node',
    })
    expect(await finished(command([script]))).toMatchObject({ code: 0, stdout: 'answered\n' })
  })
})

describe('the database thread', () => {
  /** Returns the URL of a thread program with this text. */
  function program(text: string): URL {
    return new URL(`data:text/javascript,${encodeURIComponent(text)}`)
  }

  const echo = program(`
    import { parentPort } from 'node:worker_threads'
    parentPort.on('message', ({ method, args }) => {
      if (method === 'deleteSealed') throw new Error('crash')
      if (method === 'close') parentPort.close()
      parentPort.postMessage({ kind: 'value', value: args[0] ?? {} })
    })
  `)

  async function echoing(report?: StoreSettings['report']): Promise<Store> {
    return openStore('', { entry: echo, report })
  }

  const crash = (store: Store) => store.deleteSealed('canary', 'x')
  const ended = new StoreFault('the database thread ended during the call')

  test('a crash fails only the current call, and the next one starts another thread', async () => {
    const reports: unknown[] = []
    const store = await echoing((...entry) => reports.push(entry))
    const calls = [
      crash(store),
      store.readSealed('canary'),
      crash(store),
      store.readSealed('canary'),
    ]
    expect(await Promise.allSettled(calls)).toEqual([
      { status: 'rejected', reason: ended },
      { status: 'fulfilled', value: 'canary' },
      { status: 'rejected', reason: ended },
      { status: 'fulfilled', value: 'canary' },
    ])
    const failed = 'the database thread failed'
    expect(reports).toMatchObject([
      [failed, { error: 'Error' }],
      [failed, { error: 'Error' }],
    ])
  })

  test('a thread that keeps crashing is not started again for a while', async () => {
    const store = await echoing()
    const calls = await Promise.allSettled(Array.from({ length: 6 }, () => crash(store)))
    expect(calls.map((call) => call.status === 'rejected' && call.reason.message)).toEqual([
      ...Array(3).fill(ended.message),
      ...Array(3).fill('the database thread crashes on every start'),
    ])
    await expect(store.readSealed('canary')).rejects.toThrow('crashes on every start')
    const now = performance.now()
    vi.spyOn(performance, 'now').mockReturnValue(now + 5_000)
    onTestFinished(() => void vi.restoreAllMocks())
    expect(await store.readSealed('canary')).toBe('canary')
  })

  test('a store refuses to open without a thread program', async () => {
    const entry = program('throw new Error("secret")')
    await expect(openStore('', { entry })).rejects.toThrow(ended)
  })
})

test('the event loop is not blocked by five thousand rows a second, nor by a long page', async () => {
  const store = await opened()
  const rows = Array.from({ length: 500 }, () => usageRow({ metadata: { team: 'search' } }))
  const gaps: number[] = []
  // The first rounds run code that is not compiled yet.
  for (let round = 0; round < 3; round++) {
    const writing = await longestTurn(async () => {
      const batches = []
      for (let batch = 0; batch < 10; batch++) {
        batches.push(store.addUsage(usageBatch(`${round} ${batch}`, rows)))
        await sleep(100)
      }
      await Promise.all(batches)
    })
    const reading = await longestTurn(() => store.listUsage({ ...everything, limit: 10_000 }))
    gaps.push(Math.max(writing, reading))
  }
  console.log(`longest turns of the event loop: ${gaps.map((gap) => gap.toFixed(1)).join(', ')} ms`)
  expect(Math.min(...gaps)).toBeLessThanOrEqual(20)
})

/** Returns the longest turn of the event loop during `work`, in milliseconds. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  const working = work().then(() => true)
  const turn = () => new Promise<false>((resolve) => setImmediate(resolve, false))
  let longest = 0
  for (let last = threadMillis(); !(await Promise.race([working, turn()])); ) {
    const now = threadMillis()
    longest = Math.max(longest, now - last)
    last = now
  }
  return longest
}

/** Returns the processor time of this thread in milliseconds, without that of other processes. */
function threadMillis(): number {
  if (process.platform !== 'linux') return performance.now()
  return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6
}
