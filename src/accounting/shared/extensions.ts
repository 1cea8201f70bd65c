import type { Extension } from '../../core/admission.ts'
import type { Millis } from '../../core/ids.ts'
import type { Clock, Log } from '../../core/ports.ts'
import { hasRoom, isPresent } from '../admission.ts'
import type { AccountReplica } from './account-replica.ts'
import { callTime, type Decisions, maxWait } from './decisions.ts'
import type { ExtensionDecision, SharedFunctions } from './functions.ts'
import { type SharedHold, writeFacts, writeRecord } from './hold.ts'
import { isCut, isLoss, repeatTime } from './loss.ts'
import type { OpenHolds } from './open-holds.ts'
import type { ServerClock } from './server-clock.ts'

export interface ExtensionsOptions {
  /** The id of this process. */
  readonly process: string
  /** See `SharedLedgerOptions`. */
  readonly onLoss: 'refuse' | 'local'
  readonly clock: Pick<Clock, 'elapsed'>
  readonly log: Log
  readonly serverClock: ServerClock
  readonly functions: Pick<SharedFunctions, 'extend' | 'restore'>
  readonly decisions: Decisions
  readonly replica: AccountReplica
  readonly holds: OpenHolds
  /** Joins the other processes on a server that has no state. */
  readonly join: () => Promise<void>
}

/** Reserves more for requests that run, of the budgets that all processes share. */
export class Extensions {
  readonly #options: ExtensionsOptions

  constructor(options: ExtensionsOptions) {
    this.#options = options
  }

  /** Reserves an amount beside what a hold has. Never rejects. */
  async extend(hold: SharedHold, cost: bigint): Promise<Extension> {
    try {
      return await this.#decide(hold, cost)
    } catch (error) {
      const { onLoss, log } = this.#options
      if (!isLoss(error)) {
        log.write('error', 'the shared state refuses a reservation', { error: String(error) })
      } else if (onLoss === 'local') {
        return reserveHere(hold, cost)
      }
      return 'unavailable'
    }
  }

  /** Asks the server until it has decided. Rejects when it cannot. */
  async #decide(hold: SharedHold, cost: bigint): Promise<Extension> {
    const { clock, holds } = this.#options
    const end = clock.elapsed() + maxWait
    const repeatUntil = clock.elapsed() + repeatTime
    let insists = false
    while (clock.elapsed() <= end) {
      // A hold that has ended must not come back.
      if (holds.get(hold.id) !== hold) return 'reserved'
      const decision = await this.#ask(hold, { cost, insists, repeatUntil })
      switch (decision?.status) {
        case 'reserved':
          return 'reserved'
        // A hold that is gone was charged as that of a process that has died, so nothing can be reserved for it.
        case 'refused':
        case 'gone':
          return 'no-room'
        case 'busy':
          insists = true
          break
        case 'unknown':
          await this.#restore(hold)
          break
        case 'unseeded':
          await this.#options.decisions.load(decision)
          break
        case 'empty':
          await this.#options.join()
          break
        case 'late':
        case undefined:
          break
        default:
          decision satisfies never
      }
    }
    return 'unavailable'
  }

  /** Undefined when the connection was cut, and the call may be repeated. */
  async #ask(
    hold: SharedHold,
    { cost, insists, repeatUntil }: Asking,
  ): Promise<ExtensionDecision | undefined> {
    const { clock, serverClock, functions, replica } = this.#options
    const { id, facts } = hold
    const accounts = hold.subjects.map(({ account }) => account)
    const ask = {
      id,
      accounts,
      insists,
      cost: facts.cost + cost,
      facts: writeFacts({ ...facts, cost: facts.cost + cost }),
    }
    try {
      const decision = await functions.extend(ask, serverClock.now() + callTime)
      // At once, before any later reply.
      if ('subjects' in decision) replica.follow(accounts, decision.subjects)
      if (decision.status === 'reserved') addTo(hold, cost)
      return decision
    } catch (error) {
      if (isCut(error) && clock.elapsed() < repeatUntil) return undefined
      throw error
    }
  }

  /** Writes a hold that was made while the server was away, or that the server has lost. */
  async #restore(hold: SharedHold): Promise<void> {
    const { functions, process, holds } = this.#options
    holds.know(hold.id)
    await functions.restore([[hold.id, writeRecord(process, hold)]])
  }
}

interface Asking {
  readonly cost: bigint
  readonly insists: boolean
  readonly repeatUntil: Millis
}

/** The server, or this process alone, has reserved more. */
function addTo({ subjects, facts }: SharedHold, cost: bigint): void {
  facts.cost += cost
  for (const subject of subjects) {
    if (subject.reserved > 0n && subject.account.record.budgetMax !== null) {
      subject.reserved += cost
    }
  }
}

/** Reserves of the accounts in memory. */
function reserveHere(hold: SharedHold, cost: bigint): Extension {
  if (!hasRoom(hold.subjects, cost)) return 'no-room'
  for (const { account, term, reserved } of hold.subjects) {
    if (reserved > 0n && isPresent(account, term)) account.reserve(cost)
  }
  addTo(hold, cost)
  return 'reserved'
}
