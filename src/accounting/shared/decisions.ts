import type { Millis } from '../../core/ids.ts'
import type { Clock } from '../../core/ports.ts'
import { SharedStateFault } from '../../core/shared-state.ts'
import type { AccountEntry } from '../account-entry.ts'
import type { AccountLoader } from './account-loader.ts'
import type { AccountReplica } from './account-replica.ts'
import type { SharedAsk, SharedDecision, SharedFunctions, SharedReading } from './functions.ts'
import { nameAccount } from './hold.ts'
import type { LostHolds } from './lost-holds.ts'
import type { ServerClock } from './server-clock.ts'

/** A server that pauses must not run a call that was given up: until then it may. */
export const callTime: Millis = 800

/** A request waits for a decision at most about so long. */
export const maxWait: Millis = 1_500

export interface DecisionsOptions {
  readonly functions: SharedFunctions
  readonly clock: Pick<Clock, 'elapsed' | 'schedule'>
  readonly serverClock: ServerClock
  readonly replica: AccountReplica
  readonly lost: LostHolds
  readonly loader: AccountLoader
  /** Joins the other processes on a server that has no state. */
  readonly join: () => Promise<void>
}

/**
 * Asks the server for decisions and counts, gives it what it lacks for them, and brings the accounts in memory
 * up to date with its replies.
 */
export class Decisions {
  readonly #options: DecisionsOptions

  constructor(options: DecisionsOptions) {
    this.#options = options
  }

  /**
   * Asks the server until it has decided. Rejects when it cannot. `conclude` is called while the accounts in
   * memory are as the server has replied: before any other reply.
   */
  async decide<Result>(
    ask: SharedAsk,
    conclude: (decision: Decided) => Result | Promise<Result>,
  ): Promise<Result> {
    const { clock, serverClock, functions, replica, lost } = this.#options
    const end = clock.elapsed() + maxWait
    let { mode } = ask
    while (clock.elapsed() <= end) {
      // Without a reply so far the time of the server is unknown: the first call learns it.
      const deadline = serverClock.isSet ? serverClock.now() + callTime : 0
      const decision = await functions.admit({ ...ask, mode }, deadline)
      switch (decision.status) {
        case 'admitted':
        case 'refused':
          replica.follow(ask.accounts, decision.subjects)
          lost.end(decision.claims)
          return conclude(decision)
        case 'busy':
          lost.end(decision.claims)
          mode = 'insist'
          break
        case 'unseeded':
          await this.load(decision)
          break
        case 'empty':
          await this.#options.join()
          break
        case 'late':
          break
        default:
          decision satisfies never
      }
    }
    throw new SharedStateFault('the server was too slow')
  }

  /** Brings these accounts up to date; false when the server was too slow. Rejects when it cannot be used. */
  async read(accounts: readonly AccountEntry[]): Promise<boolean> {
    const names = accounts.map(nameAccount)
    const { clock, functions, replica } = this.#options
    const end = clock.elapsed() + maxWait
    while (clock.elapsed() <= end) {
      const reading = await functions.read(names)
      if (reading.status === 'known') {
        replica.follow(accounts, reading.subjects)
        return true
      }
      if (reading.epoch === '') await this.#options.join()
      else await this.load(reading)
    }
    return false
  }

  /** Loads what the server lacks of these subjects. */
  async load({ epoch, wait, names }: Unseeded): Promise<void> {
    if (wait > 0) await this.#pause(wait)
    await this.#options.loader.load(epoch, names)
  }

  #pause(wait: Millis): Promise<void> {
    return new Promise((resolve) => {
      this.#options.clock.schedule(wait, resolve)
    })
  }
}

type Unseeded = Extract<SharedReading, { status: 'unseeded' }>

type Decided = Extract<SharedDecision, { status: 'admitted' | 'refused' }>
