import { expect, test } from 'vitest'
import { reloadLoad } from '../../bench/reload-load.ts'
import { threadEntry } from './support/store.ts'

test('reloads every 100 ms fail no request, mix no configurations and leak nothing', async () => {
  const load = await reloadLoad({ connections: 12, pause: 100, entry: threadEntry })
  const { counts } = load
  const isEnough = () =>
    counts.changes > 15 && counts.refused > 2 && Math.min(counts.json, counts.streams) > 30
  // About two seconds on an idle machine, more on a busy one.
  for (let second = 0; second < 20 && !isEnough(); second++) await load.run(1_000)
  expect(await load.finish()).toEqual([])
  expect(isEnough(), JSON.stringify(counts)).toBe(true)
}, 60_000)
