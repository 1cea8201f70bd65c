import type { NanoUsd } from '../core/ids.ts'
import { toUsd } from '../core/money.ts'
import type { Log } from '../core/ports.ts'
import { type Journal, type LeftBatch, type Store, UsageBatchBuilder } from '../store/index.ts'

export interface RecoverOptions {
  /** Undefined for a host that keeps no rows. */
  readonly journal: Journal | undefined
  readonly store: Pick<Store, 'addUsage'>
  readonly log: Log
}

/**
 * Saves the rows that killed processes have left in the journal, with the ids of their batches: the
 * database ignores those that it has. Rejects with a `StoreFault` when it cannot save them.
 */
export async function recoverUsage({ journal, store, log }: RecoverOptions): Promise<void> {
  if (!journal) return
  const { batches, torn } = await journal.recover()
  const replaced = listReplaced(batches)
  let rows = 0
  let spend = 0n
  for (const { id, rows: found } of batches) {
    if (!replaced.has(id)) {
      const batch = new UsageBatchBuilder(id, found[0]?.process)
      for (const row of found) batch.add(row)
      await store.addUsage(batch)
      rows += batch.length
      spend += batch.cost
    }
    journal.forget(id)
  }
  if (rows + torn === 0) return
  // A sum of nano-dollars.
  const fields = { rows, spend_usd: toUsd(spend as NanoUsd), torn_rows: torn }
  log.write('warn', 'saved the usage that a killed process has left in its journal', fields)
}

function listReplaced(left: readonly LeftBatch[]): ReadonlySet<string | undefined> {
  return new Set(left.flatMap(({ rows }) => rows.map(({ replaces }) => replaces)))
}
