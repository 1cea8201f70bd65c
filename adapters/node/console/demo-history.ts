import { mintKey, newGroupId, newKeyId } from '../../../src/auth/index.ts'
import type { AccountLimits } from '../../../src/core/accounts.ts'
import type { GroupId, KeyId, NanoUsd, UnixSeconds } from '../../../src/core/ids.ts'
import {
  type NewUsageRow,
  plainBill,
  type Store,
  UsageBatchBuilder,
} from '../../../src/store/index.ts'

const hour = 3_600
const days = 30
const unlimited: AccountLimits = {
  models: null,
  budgetMax: null,
  budgetPeriod: null,
  rpmLimit: null,
  tpmLimit: null,
  maxParallel: null,
  priority: null,
}

/** Adds a group with a key and what it made up to have used in the last 30 days. `now`: unix seconds. */
export async function addDemoHistory(store: Store, now: number): Promise<void> {
  // From the beginning of an hour.
  const begin = (Math.floor(now / hour) - days * 24) * hour
  const createdAt = begin as UnixSeconds
  const groupId = newGroupId()
  const keyId = newKeyId()
  const budgetMax = 20_000_000_000n as NanoUsd
  const group = {
    ...unlimited,
    id: groupId,
    name: 'website',
    budgetMax,
    createdAt,
    deletedAt: null,
  }
  await store.createGroup(group)
  const { digest } = mintKey()
  const key = { ...unlimited, id: keyId, name: 'help desk', groupId, createdAt }
  await store.createKey({ ...key, digest, expiresAt: null, disabled: false })
  const batch = new UsageBatchBuilder(crypto.randomUUID())
  for (let at = 0; at < days * 24; at++) batch.add(toRow(begin + at * hour, { keyId, groupId }))
  await store.addUsage(batch)
}

/** The prices of the demo, in nano-dollars per token. */
const inputPrice = 2_500
const outputPrice = 10_000

/** One request in an hour; larger ones by day than by night, and on weekdays. */
function toRow(
  ts: number,
  account: { readonly keyId: KeyId; readonly groupId: GroupId },
): NewUsageRow {
  const isWeekend = new Date(ts * 1000).getUTCDay() % 6 === 0
  const byDay = 1 - Math.cos(((ts % (24 * hour)) / hour / 24) * 2 * Math.PI)
  const index = Math.floor(ts / hour)
  // Looks random, but is the same at each start.
  const noise = ((index * 7_919) % 97) / 97
  const tokensOut = Math.round((isWeekend ? 300 : 1_000) * (0.2 + byDay) * (0.5 + noise))
  const tokensIn = tokensOut * 3
  const model = index % 4 === 0 ? 'demo-flaky' : 'demo'
  return {
    ...account,
    ts,
    requestId: crypto.randomUUID(),
    model,
    modelUsed: model,
    provider: model,
    capability: 'chat',
    api: 'chat',
    stream: true,
    tokensIn,
    tokensOut,
    tokensTotal: tokensIn + tokensOut,
    estimated: false,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    searchUnits: 0,
    mediaCount: 0,
    mediaBytes: 0,
    cost: BigInt(tokensIn * inputPrice + tokensOut * outputPrice) as NanoUsd,
    latencyMs: 900,
    ttftMs: 200,
    attempts: 1,
    cacheHit: false,
    status: 200,
    errorCode: null,
    metadata: {},
    ...plainBill,
    queuedMs: null,
    failure: null,
  }
}
