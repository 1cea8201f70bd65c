import { computed, signal } from '@preact/signals'
import { read } from './api.ts'
import type { UsageGroup } from './shapes.ts'
import { requests } from './state.ts'

/** How many days back the usage log is read. */
export const usedDays = 30

const ofLog = signal<ReadonlyMap<string, number>>(new Map())

/** When keys and groups were last used, in unix seconds, by their ids. */
export const lastUsed = computed(() => {
  const times = new Map(ofLog.value)
  for (const { ts, key_id: key, group_id: group } of requests.value) {
    for (const id of [key, group]) if (id !== null && ts > (times.get(id) ?? 0)) times.set(id, ts)
  }
  return times
})

/** Reads when keys and groups were last used. Rejects with an `ApiError`. */
export async function readLastUsed(): Promise<void> {
  const since = Math.floor(Date.now() / 1000) - usedDays * 86_400
  const answers = ['key_id', 'group_id'].map((field) =>
    read<{ groups: UsageGroup[] }>(`/admin/usage?since=${since}&group_by=${field}&limit=1000`),
  )
  const groups = (await Promise.all(answers)).flatMap((answer) => answer.groups)
  ofLog.value = new Map(groups.map(({ group, last_at: at }) => [group, at]))
}
