import type { Millis } from '../../core/ids.ts'
import type { Clock, Log } from '../../core/ports.ts'
import { SharedStateFault } from '../../core/shared-state.ts'
import type { Store } from '../../store/index.ts'
import type { AccountEntry } from '../account-entry.ts'
import type { Recover } from './account-loader.ts'
import type { AccountReplica } from './account-replica.ts'
import type { SharedClosing, SharedFunctions, SharedReading } from './functions.ts'
import { nameAccount } from './hold.ts'
import { isLoss } from './loss.ts'
import { nameSubject, type SubjectName, writeFinalShare } from './values.ts'

export interface ProcessReconcilerOptions {
  /** The id of this process. */
  readonly process: string
  readonly lease: Millis
  readonly clock: Pick<Clock, 'elapsed'>
  readonly log: Log
  readonly functions: Pick<SharedFunctions, 'processes' | 'charges' | 'close' | 'forget'>
  readonly store: Pick<Store, 'readShares' | 'forgetProcess'>
  readonly replica: AccountReplica
  readonly find: (name: SubjectName) => AccountEntry | undefined
  readonly recover: Recover
  /** Loads subjects that the server does not know. */
  readonly load: (unseeded: Extract<SharedReading, { status: 'unseeded' }>) => Promise<void>
}

/** A process whose charges the server has as the database has them. */
interface Closed {
  readonly epoch: string
  readonly names: readonly SubjectName[]
  readonly at: Millis
}

type Shares = SharedClosing['shares']

/** Names per call, so that no call holds the server up. */
const maxPerCall = 100

/** The server may lose its data while subjects are loaded into it: then the next join begins again. */
const maxTries = 10

/**
 * Reconciles what the server and the database know of the charges of processes that have ended. The two may differ:
 * a process could not report everything, or could not keep a row of what it had reported. The database with what was
 * in the journal is right, so the server gets its figures. Some time later both forget which part of the spend was
 * that of the process.
 */
export class ProcessReconciler {
  readonly #options: ProcessReconcilerOptions
  readonly #closed = new Map<string, Closed>()
  /** Further processes for the next time. */
  readonly #others = new Set<string>()
  #isDue = false
  #last: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined

  constructor(options: ProcessReconcilerOptions) {
    this.#options = options
  }

  /**
   * Reconciles the charges of every process that has ended before this call, among those that the server and the
   * database know and some others. Rejects when one of the two cannot be used.
   */
  reconcile(others: readonly string[] = []): Promise<void> {
    for (const process of others) this.#others.add(process)
    // All callers share one that has not begun yet.
    this.#next ??= this.#last
      .catch(() => {})
      .then(() => {
        this.#next = undefined
        return this.#closeAll()
      })
    this.#last = this.#next
    return this.#next
  }

  /** Reconciles now or, where that fails, with the next renewal. Never rejects. */
  async reconcileSoon(): Promise<void> {
    this.#isDue = true
    await this.renew()
  }

  /** Does what is due. Never rejects. */
  async renew(): Promise<void> {
    try {
      if (this.#isDue) await this.reconcile()
      await this.#forget()
    } catch (error) {
      if (isLoss(error)) return
      this.#options.log.write('error', 'the shared state has failed', { error: String(error) })
    }
  }

  /** Resolves when nothing runs. */
  async idle(): Promise<void> {
    await this.#last.catch(() => {})
  }

  async #closeAll(): Promise<void> {
    const { functions, recover, process: own } = this.#options
    this.#isDue = false
    try {
      const others = [...this.#others]
      this.#others.clear()
      const { epoch, processes } = await functions.processes()
      for (const process of await recover([...processes, ...others])) {
        if (process === own || this.#closed.get(process)?.epoch === epoch) continue
        await this.#close(epoch, process)
      }
    } catch (error) {
      this.#isDue = true
      throw error
    }
  }

  async #close(epoch: string, process: string): Promise<void> {
    const shares = await this.#readShares(process)
    // One of its keys is new, and not loaded yet.
    if (!shares) {
      this.#isDue = true
      return
    }
    for (let at = 0; at === 0 || at < shares.length; at += maxPerCall) {
      await this.#send({ epoch, process, shares: shares.slice(at, at + maxPerCall) })
    }
    const names = shares.map(([name]) => name)
    this.#closed.set(process, { epoch, names, at: this.#options.clock.elapsed() })
  }

  /** Returns what the database knows of a process, and the names of what only the server knows. */
  async #readShares(process: string): Promise<Shares | undefined> {
    const { functions, store, find } = this.#options
    const charged = await functions.charges(process)
    const shares = new Map<SubjectName, string | false>(charged.map((name) => [name, false]))
    for (const { subject, ...share } of await store.readShares(process)) {
      const account = find(nameSubject('key', subject)) ?? find(nameSubject('group', subject))
      if (!account) return undefined
      shares.set(nameAccount(account), writeFinalShare(share))
    }
    return [...shares]
  }

  async #send(closing: SharedClosing): Promise<void> {
    const { functions, replica, find, load } = this.#options
    for (let tries = 0; tries < maxTries; tries++) {
      const reply = await functions.close(closing)
      switch (reply.status) {
        case 'known':
          return replica.follow(
            closing.shares.map(([name]) => find(name)),
            reply.subjects,
          )
        case 'unseeded':
          await load(reply)
          break
        case 'empty':
          throw new SharedStateFault('the server has lost its data')
        default:
          reply satisfies never
      }
    }
    throw new SharedStateFault('the server does not keep its data')
  }

  /**
   * Forgets closed processes, a lease later: until then the server may run a call that one of them has sent.
   */
  async #forget(): Promise<void> {
    const { functions, store, clock, lease } = this.#options
    for (const [process, { epoch, names, at }] of this.#closed) {
      if (clock.elapsed() < at + lease) continue
      let isSame = true
      for (let first = 0; isSame && (first === 0 || first < names.length); first += maxPerCall) {
        isSame = await functions.forget(epoch, process, names.slice(first, first + maxPerCall))
      }
      // Otherwise it is reconciled again.
      if (isSame) await store.forgetProcess(process)
      this.#closed.delete(process)
    }
  }
}
