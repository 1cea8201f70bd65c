import type { Log } from '../../core/ports.ts'
import { SharedStateFault } from '../../core/shared-state.ts'
import type { EndOutcome, HoldEnd, SharedFunctions } from './functions.ts'
import type { OwnShares } from './own-shares.ts'
import type { SharedSubject, SubjectName } from './texts.ts'

/** The end of a hold, and what to do once the server has answered. */
export interface PendingEnd extends HoldEnd {
  readonly onOutcome?: ((outcome: EndOutcome) => void) | undefined
}

export interface SettlementOptions {
  readonly functions: Pick<SharedFunctions, 'settle'>
  readonly own: OwnShares
  readonly log: Log
  /** Called with the subjects as the server has them after a delivery. */
  readonly onSubjects: (names: readonly SubjectName[], subjects: readonly SharedSubject[]) => void
}

/** Ends and shares per call when many are sent. */
const maxPerCall = 100

/**
 * Delivers the ends of holds and what this process has charged. What cannot be delivered is kept and sent
 * again; nothing waits for it.
 */
export class Settlements {
  readonly #options: SettlementOptions
  readonly #pendingEnds = new Map<string, PendingEnd>()
  readonly #pendingNames = new Set<SubjectName>()
  readonly #running = new Set<Promise<void>>()

  constructor(options: SettlementOptions) {
    this.#options = options
  }

  /** Whether the end of a hold has not been delivered yet. */
  isPending(id: string): boolean {
    return this.#pendingEnds.has(id)
  }

  /** Sends at once, so that a later call of this process comes after it. */
  send(ends: readonly PendingEnd[], names: readonly SubjectName[]): void {
    if (ends.length === 0 && names.length === 0) return
    for (const end of ends) this.#pendingEnds.set(end.id, end)
    for (const name of names) this.#pendingNames.add(name)
    const delivery = this.#deliver(ends, names).finally(() => this.#running.delete(delivery))
    this.#running.add(delivery)
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

  async #deliver(ends: readonly PendingEnd[], names: readonly SubjectName[]): Promise<void> {
    const { functions, own, log, onSubjects } = this.#options
    try {
      const shares = names.map((name) => [name, own.write(name)] as const)
      const { outcomes, subjects } = await functions.settle(ends, shares)
      for (const [name, share] of shares) {
        if (own.write(name) === share) this.#pendingNames.delete(name)
      }
      onSubjects(names, subjects)
      for (const [at, end] of ends.entries()) {
        const isFirst = this.#pendingEnds.delete(end.id)
        if (isFirst) end.onOutcome?.(outcomes[at] ?? 'gone')
      }
    } catch (error) {
      if (error instanceof SharedStateFault) return
      log.write('error', 'the shared state refuses a settlement', { error: String(error) })
    }
  }
}
