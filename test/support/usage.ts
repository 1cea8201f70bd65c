import { type UsageRouteDeps, usageRoutes } from '../../src/admin/usage.ts'
import type { NanoUsd } from '../../src/core/ids.ts'
import type { Reply } from '../../src/core/reply.ts'
import { type NewUsageRow, plainBill } from '../../src/store/index.ts'
import { adminContext } from './admin-context.ts'
import type { MemoryStore } from './memory-store.ts'
import { usageBatch } from './usage-batch.ts'

/** A row of the usage log: one chat request that cost 0.25 USD, a minute before the manual clock starts. */
export const usageRow: NewUsageRow = {
  ts: 1_763_999_940,
  requestId: 'request-1',
  keyId: 'a'.repeat(32),
  groupId: null,
  model: 'm',
  modelUsed: 'm',
  provider: 'p',
  capability: 'chat',
  api: 'chat',
  stream: true,
  tokensIn: 10,
  tokensOut: 20,
  tokensTotal: 30,
  estimated: false,
  cachedTokens: 4,
  cacheWriteTokens: 3,
  reasoningTokens: 5,
  searchUnits: 0,
  mediaCount: 1,
  mediaBytes: 2048,
  cost: 250_000_000n as NanoUsd,
  latencyMs: 812,
  ttftMs: 95,
  attempts: 2,
  cacheHit: false,
  status: 200,
  errorCode: null,
  metadata: { team: 'search', tier: 2, trial: false },
  ...plainBill,
  queuedMs: null,
  failure: null,
}

/** Appends rows like `usageRow`, each with its own differences. */
export async function addRows(
  store: MemoryStore,
  ...changes: readonly Partial<NewUsageRow>[]
): Promise<void> {
  const rows = changes.map((change) => ({ ...usageRow, ...change }))
  await store.addUsage(usageBatch(crypto.randomUUID(), rows))
}

/** The response of a usage route. */
export async function readAnswer(path: string, desk: UsageRouteDeps): Promise<Reply> {
  const url = new URL(path, 'http://gateway.test')
  const handler = usageRoutes(desk)[url.pathname]?.['GET']
  if (!handler) throw new Error(`no such route: ${url.pathname}`)
  return handler({ request: new Request(url), params: {}, context: adminContext() })
}

/** Returns the body of such a response, which must be successful. */
export async function getUsage(path: string, desk: UsageRouteDeps) {
  const { status, body } = await readAnswer(path, desk)
  if (status !== 200) throw new Error(`it answers with status ${status}`)
  return JSON.parse(new TextDecoder().decode(body as Uint8Array))
}
