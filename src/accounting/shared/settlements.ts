import type { Log } from '../../core/ports.ts'
import { SharedStateFault } from '../../core/shared-state.ts'
import type { RowJournal } from '../journal-writer.ts'
import type { EndOutcome, Fired, HoldEnd, SharedFunctions } from './functions.ts'
import type { ProcessCharges } from './process-charges.ts'
import type { SubjectName } from './values.ts'

/** The end of a hold, and what to do once the server has answered. */
export interface PendingEnd extends HoldEnd {
  readonly onOutcome?: ((outcome: EndOutcome) => void) | undefined
  /** Until they know, other processes may refuse a request that has a place. */
  readonly isUrgent?: boolean
}

export interface SettlementOptions {
  readonly functions: Pick<SharedFunctions, 'settle'>
  readonly charges: ProcessCharges
  readonly rowJournal: Pick<RowJournal, 'write'>
  readonly log: Log
  /** Called with the subjects whose alert a delivery has fired. */
  readonly onFired: (fired: readonly Fired[]) => void
}

/** Ends and shares per call, so that no call holds the server up. */
const maxPerCall = 100

/** What goes into one call that was not sent yet. */
interface Collected {
  readonly isUrgent: boolean
  readonly ends: PendingEnd[]
  readonly names: Set<SubjectName>
}

/**
 * Delivers the ends of holds and what this process has charged: everything that comes up before the call is
 * sent, in one call. What cannot be delivered is kept and sent again; nothing waits for it.
 */
export class Settlements {
  readonly #options: SettlementOptions
  readonly #pendingEnds = new Map<string, PendingEnd>()
  readonly #pendingNames = new Set<SubjectName>()
  readonly #running = new Set<Promise<void>>()
  #next: Collected | undefined

  constructor(options: SettlementOptions) {
    this.#options = options
  }

  /** Whether the end of a hold has not been delivered yet. */
  isPending(id: string): boolean {
    return this.#pendingEnds.has(id)
  }

  /**
   * Sends ends and shares before any later call of this process. When none is urgent, they may wait for it.
   */
  send(ends: readonly PendingEnd[], names: readonly SubjectName[]): void {
    if (ends.length === 0 && names.length === 0) return
    const collected = this.#collect(ends.some((end) => end.isUrgent))
    for (const end of ends) {
      this.#pendingEnds.set(end.id, end)
      collected.ends.push(end)
    }
    for (const name of names) {
      this.#pendingNames.add(name)
      collected.names.add(name)
    }
  }

  /** Keeps an end for the next time that the server can be used. */
  keep(end: PendingEnd): void {
    this.#pendingEnds.set(end.id, end)
  }

  /** Sends what has not been delivered, and all of these shares. */
  sendPending(names: Iterable<SubjectName> = []): void {
    const ends = [...this.#pendingEnds.values()]
    const dirty = [...new Set([...this.#pendingNames, ...names])]
    for (let at = 0; at < Math.max(ends.length, dirty.length); at += maxPerCall) {
      this.send(ends.slice(at, at + maxPerCall), dirty.slice(at, at + maxPerCall))
    }
  }

  /** Resolves when no call is running. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  /** Returns what the next call will send, if that has room and is sent soon enough. */
  #collect(isUrgent: boolean): Collected {
    const next = this.#next
    const hasRoom = next && Math.max(next.ends.length, next.names.size) < maxPerCall
    return hasRoom && (next.isUrgent || !isUrgent) ? next : this.#begin(isUrgent)
  }

  #begin(isUrgent: boolean): Collected {
    const collected: Collected = { isUrgent, ends: [], names: new Set() }
    this.#next = collected
    const delivery = this.#deliver(collected).finally(() => this.#running.delete(delivery))
    this.#running.add(delivery)
    return collected
  }

  #close(collected: Collected): void {
    if (this.#next === collected) this.#next = undefined
  }

  async #deliver(collected: Collected): Promise<void> {
    const { functions, charges, rowJournal, log, onFired } = this.#options
    const { isUrgent, ends, names } = collected
    const shares: [SubjectName, string][] = []
    try {
      const { outcomes, fired } = await functions.settle(() => {
        this.#close(collected)
        // The rows of these charges: if the process is killed now, the server knows no charge without its row.
        rowJournal.write()
        for (const name of names) shares.push([name, charges.write(name)])
        return { ends, shares }
      }, !isUrgent)
      for (const [name, share] of shares) {
        if (charges.write(name) === share) this.#pendingNames.delete(name)
      }
      onFired(fired)
      for (const [at, end] of ends.entries()) {
        const isFirst = this.#pendingEnds.delete(end.id)
        if (isFirst) end.onOutcome?.(outcomes[at] ?? 'gone')
      }
    } catch (error) {
      this.#close(collected)
      if (error instanceof SharedStateFault) return
      log.write('error', 'the shared state refuses a settlement', { error: String(error) })
    }
  }
}
