import type { NanoUsd, UnixSeconds } from '../core/ids.ts'
import { toUsd } from '../core/money.ts'
import type { Log } from '../core/ports.ts'
import {
  type Journal,
  type JournalRow,
  type LeftBatch,
  type Store,
  UsageBatchBuilder,
} from '../store/index.ts'
import { lostCode, toRefund } from './shared/lost-row.ts'

export interface RecoverOptions {
  /** Undefined for a host that keeps no rows. */
  readonly journal: Journal | undefined
  readonly store: Pick<Store, 'addUsage' | 'listProcesses' | 'findUsage'>
  readonly log: Log
}

/**
 * Saves the rows that killed processes have left in the journal, with the ids of their batches: the
 * database ignores those that it has. Resolves to the processes with a shared state that have ended and are
 * saved to their last row, among those that the database knows and some others. Rejects with a `StoreFault`
 * when it cannot save the rows.
 */
export async function recoverUsage(
  { journal, store, log }: RecoverOptions,
  others: readonly string[] = [],
): Promise<readonly string[]> {
  if (!journal) return []
  // Before the journal: if the place of one of them is free after that, it has ended.
  const processes = new Set([...others, ...(await store.listProcesses())])
  const { batches, torn, free } = await journal.recover(listPlaces(processes))
  const replaced = listReplaced(batches)
  const saved: JournalRow[] = []
  let spend = 0n
  for (const { id, rows: found } of batches) {
    if (replaced.has(id)) continue
    const process = found[0]?.process
    if (process !== undefined) processes.add(process)
    const batch = new UsageBatchBuilder(id, process)
    for (const row of found) batch.add(row)
    await store.addUsage(batch)
    saved.push(...found)
    spend += batch.cost
  }
  await refundLost(store, saved)
  for (const { id } of batches) journal.forget(id)
  const rows = saved.length
  if (rows + torn > 0) {
    // A sum of nano-dollars.
    const fields = { rows, spend_usd: toUsd(spend as NanoUsd), torn_rows: torn }
    log.write('warn', 'saved the usage that a killed process has left in its journal', fields)
  }
  return [...processes].filter((process) => free.has(placeOf(process) ?? ''))
}

/** A lost request is charged within about this time of its last row. */
const maxChargeDelay: UnixSeconds = 3_600

/** Takes back what another process has charged for a request whose row was found only now. */
async function refundLost(
  store: Pick<Store, 'addUsage' | 'findUsage'>,
  saved: readonly JournalRow[],
): Promise<void> {
  // Only processes with a shared state charge for each other.
  const rows = saved.filter((row) => row.process !== undefined && row.errorCode !== lostCode)
  if (rows.length === 0) return
  const times = rows.map(({ ts }) => ts)
  const found = await store.findUsage({
    requests: rows,
    since: Math.min(...times) - maxChargeDelay,
    until: Math.max(...times) + maxChargeDelay,
  })
  for (const { requestId, keyId, lostCost } of found) {
    const row = rows.find((one) => one.requestId === requestId && one.keyId === keyId)
    if (!row || lostCost <= 0n) continue
    // The same for every process that finds the row.
    const batch = new UsageBatchBuilder(`refund ${keyId} ${requestId}`, row.process)
    batch.add(toRefund(row, lostCost))
    await store.addUsage(batch)
  }
}

/** Returns `recoverUsage` for a process that runs: one call after the other. */
export function createRecovery(options: RecoverOptions) {
  let last: Promise<unknown> = Promise.resolve()
  return (others: readonly string[] = []): Promise<readonly string[]> => {
    const recovery = last.catch(() => {}).then(() => recoverUsage(options, others))
    last = recovery
    return recovery
  }
}

/** Returns a new id for this process, which says where its journal is. */
export function nameProcess(journal: Journal | undefined): string {
  const id = crypto.randomUUID()
  return journal ? `${id}@${journal.place}` : id
}

function placeOf(process: string): string | undefined {
  return process.split('@')[1]
}

function listPlaces(processes: Iterable<string>): readonly string[] {
  return [...new Set([...processes].flatMap((process) => placeOf(process) ?? []))]
}

function listReplaced(left: readonly LeftBatch[]): ReadonlySet<string | undefined> {
  return new Set(left.flatMap(({ rows }) => rows.map(({ replaces }) => replaces)))
}
