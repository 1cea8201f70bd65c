import {
  type NewUsageRow,
  type RefusedBatch,
  type RefusedRow,
  type UsageBatch,
  UsageBatchBuilder,
} from '../../src/store/index.ts'

/** A batch of these rows. */
export function usageBatch(id: string, rows: readonly NewUsageRow[]): UsageBatch {
  const table = new UsageBatchBuilder(id)
  for (const row of rows) table.add(row)
  return table
}

/** A batch of refused requests, each like the same one with its own differences. */
export function refusedBatch(...changes: readonly Partial<RefusedRow>[]): RefusedBatch {
  return { id: crypto.randomUUID(), rows: changes.map((change) => ({ ...refused, ...change })) }
}

const refused: RefusedRow = {
  ts: 1_000,
  requestId: 'refused-1',
  keyId: 'key-1',
  groupId: null,
  api: 'chat',
  stream: false,
  model: 'none',
  status: 404,
  errorCode: 'LM-2001',
  failure: '{"reason":"the model is not configured"}',
  latencyMs: 1,
  count: 1,
}
