import type { Log } from '../../core/ports.ts'
import {
  type ChargedRow,
  type LostLookup,
  type Store,
  UsageBatchBuilder,
} from '../../store/index.ts'
import type { RowJournal } from '../journal-writer.ts'
import { isLoss } from './loss.ts'

export interface LostRowOptions {
  /** The id of this process, which charges the rows. */
  readonly process: string
  readonly log: Log
  readonly store: Pick<Store, 'addLostUsage'>
  readonly rowJournal: RowJournal
}

/** A row that waits for the charge on the server, and for the database. */
export interface LostRow {
  readonly batch: UsageBatchBuilder
  readonly lookup: LostLookup
}

interface Due extends LostRow {
  readonly onSaved: () => void
  /** The request has got a row in the meantime. */
  readonly onRefused: () => void
}

/**
 * Saves the rows of lost requests. The database decides: it takes a row only while the request has no other
 * one. The journal has the row before the server is asked, so that a process which is killed in between
 * leaves no charge without a row.
 */
export class LostRows {
  readonly #options: LostRowOptions
  #due: Due[] = []
  #saving: Promise<void> | undefined

  constructor(options: LostRowOptions) {
    this.#options = options
  }

  /** Keeps rows in the journal. `last`: the latest id of the usage log when their requests had no row. */
  keep(rows: readonly ChargedRow[], last: number): readonly LostRow[] {
    const { process, rowJournal } = this.#options
    const kept = rows.map((row) => {
      const batch = new UsageBatchBuilder(crypto.randomUUID(), process)
      batch.add(row)
      rowJournal.append(batch)
      const { requestId, keyId } = row
      return { batch, lookup: { requestId, keyId, last } }
    })
    rowJournal.write()
    return kept
  }

  /** Gives a row up: the server has not charged it. */
  drop({ batch }: LostRow): void {
    this.#options.rowJournal.forget(batch.id)
  }

  /** Saves a row, now or later. */
  add(due: Due): void {
    this.#due.push(due)
    void this.save()
  }

  /** Saves what could not be saved so far. Never rejects. */
  save(): Promise<void> {
    this.#saving ??= this.#saveAll().finally(() => {
      this.#saving = undefined
    })
    return this.#saving
  }

  async #saveAll(): Promise<void> {
    const { store, rowJournal, log } = this.#options
    try {
      for (let first = this.#due[0]; first; first = this.#due[0]) {
        const { batch, lookup, onSaved, onRefused } = first
        const isSaved = await store.addLostUsage(batch, lookup)
        this.#due.shift()
        rowJournal.forget(batch.id)
        if (isSaved) onSaved()
        else onRefused()
      }
    } catch (error) {
      if (isLoss(error)) return
      log.write('error', 'the shared state has failed', { error: String(error) })
    }
  }
}
