import { afterAll, beforeAll, expect, test } from 'vitest'
import { reloadLoad } from '../../bench/reload-load.ts'
import { type BuiltThread, buildThread } from './support/store.ts'

let thread: BuiltThread

beforeAll(async () => {
  thread = await buildThread()
})

afterAll(() => thread.remove())

test('three seconds of changes every 100 ms fail no request, mix nothing up and leave nothing', async () => {
  const load = await reloadLoad({ connections: 12, pause: 100, entry: thread.entry })
  await load.run(3_000)
  expect(await load.finish()).toEqual([])
  // A file is read once it has been still for 250 ms, so three seconds hold no more than a dozen.
  expect(load.counts.changes).toBeGreaterThan(5)
  expect(load.counts.refused).toBeGreaterThan(0)
  expect(Math.min(load.counts.json, load.counts.streams)).toBeGreaterThan(30)
})
