import type { NanoUsd, UnixSeconds } from '../core/ids.ts'
import { toUsd } from '../core/money.ts'
import type { Log } from '../core/ports.ts'
import {
  type Journal,
  type JournalRow,
  type LeftBatch,
  type Store,
  UsageBatchBuilder,
  type UsageRequest,
} from '../store/index.ts'
import { lostCode, toRefund } from './shared/lost-row.ts'

export interface RecoverOptions {
  /** Undefined for a host that keeps no rows. */
  readonly journal: Journal | undefined
  readonly store: Pick<Store, 'addUsage' | 'addLostUsage' | 'listProcesses' | 'findUsage'>
  readonly log: Log
  /** Called before rows that were found are saved. */
  readonly onFound?: () => Promise<void>
}

/**
 * Saves the rows that killed processes have left in the journal, with the ids of their batches: the
 * database ignores those that it has. Resolves to the processes with a shared state that have ended and are
 * saved to their last row, among those that the database knows and some others. Rejects with a `StoreFault`
 * when it cannot save the rows.
 */
export async function recoverUsage(
  { journal, store, log, onFound }: RecoverOptions,
  others: readonly string[] = [],
): Promise<readonly string[]> {
  if (!journal) return []
  // Before the journal: if the place of one of them is free after that, it has ended.
  const processes = new Set([...others, ...(await store.listProcesses())])
  const { batches, torn, free } = await journal.recover(listPlaces(processes))
  if (batches.length > 0) await onFound?.()
  const replaced = listReplaced(batches)
  const kept = batches.filter(({ id }) => !replaced.has(id))
  for (const { rows } of kept) if (rows[0]?.process !== undefined) processes.add(rows[0].process)
  const own = kept.filter(({ rows }) => !rows.every(isLostCharge))
  const spend = await saveOwn(store, own)
  await saveLost(
    store,
    kept.filter((batch) => !own.includes(batch)),
  )
  for (const { id } of batches) journal.forget(id)
  const rows = own.reduce((sum, batch) => sum + batch.rows.length, 0)
  if (rows + torn > 0) {
    const fields = { rows, spend_usd: toUsd(spend), torn_rows: torn }
    log.write('warn', 'saved the usage that a killed process has left in its journal', fields)
  }
  return [...processes].filter((process) => free.has(placeOf(process) ?? ''))
}

/** Saves the rows of a process's own requests. Resolves to what they cost. */
async function saveOwn(
  store: RecoverOptions['store'],
  batches: readonly LeftBatch[],
): Promise<NanoUsd> {
  let spend = 0n
  const charged: UsageBatchBuilder[] = []
  for (const { id, rows } of batches) {
    const batch = toBatch(id, rows)
    const lost = await store.addUsage(batch)
    if (lost.length > 0) charged.push(batch)
    spend += batch.cost
  }
  for (const batch of charged) await refundLost(store, batch)
  // A sum of nano-dollars.
  return spend as NanoUsd
}

/** Takes back what other processes have charged for the requests of a batch, once all rows are saved. */
async function refundLost(store: Pick<Store, 'addUsage'>, batch: UsageBatchBuilder): Promise<void> {
  // Once more, because some of the rows that were saved after it may be refunds.
  for (const charge of await store.addUsage(batch)) {
    const row = batch.find(charge)
    if (!row) continue
    const { requestId, keyId } = charge
    // The same for every process that finds the row.
    const id = `refund ${keyId} ${requestId} ${charge.row}`
    await store.addUsage(toBatch(id, [{ ...toRefund(row, charge.cost), process: row.process }]))
  }
}

/** The rows of a batch have one process. */
function toBatch(id: string, rows: readonly JournalRow[]): UsageBatchBuilder {
  const batch = new UsageBatchBuilder(id, rows[0]?.process)
  for (const row of rows) batch.add(row)
  return batch
}

/** A process that charges a lost request was killed within this time after the request. */
const maxChargeDelay: UnixSeconds = 86_400

/** Saves the rows of requests that a process was about to charge as lost, where they have no other row. */
async function saveLost(
  store: RecoverOptions['store'],
  batches: readonly LeftBatch[],
): Promise<void> {
  const lost = batches.flatMap(({ rows }) => rows)
  if (lost.length === 0) return
  const { last, requests } = await store.findUsage({
    requests: lost,
    since: Math.min(...lost.map(({ ts }) => ts)) - maxChargeDelay,
    until: Number.MAX_SAFE_INTEGER,
  })
  for (const { id, rows } of batches) {
    const [row] = rows
    if (!row || requests.some((one) => isOf(one, row))) continue
    const { requestId, keyId } = row
    await store.addLostUsage(toBatch(id, rows), { requestId, keyId, last })
  }
}

function isOf({ requestId, keyId }: UsageRequest, row: JournalRow): boolean {
  return row.requestId === requestId && row.keyId === keyId
}

function isLostCharge({ errorCode, cost }: JournalRow): boolean {
  return errorCode === lostCode && cost >= 0n
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
