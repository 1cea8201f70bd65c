import type { Millis } from '../../core/ids.ts'
import type { SharedState } from '../../core/shared-state.ts'
import type { AccountEntry } from '../account-entry.ts'
import {
  askedFields,
  type WrittenAsked,
  type WrittenSeed,
  type WrittenSubject,
  writeList,
} from './records.ts'
import {
  nameSubject,
  readSubject,
  type SharedSubject,
  type SubjectName,
  writeAmount,
  writeOptional,
} from './values.ts'

/** What every reply begins with. */
export interface ReplyHead {
  /** The time of the server. */
  readonly now: Millis
  /** The life of its data; empty when it has none. */
  readonly epoch: string
}

export interface SharedFunctionsOptions {
  readonly state: Pick<SharedState, 'batch'>
  /** The id of this process. */
  readonly process: string
  readonly lease: Millis
  readonly onLostHold: 'charge' | 'release'
  /** Called with each reply, before its caller continues. */
  readonly onReply: (head: ReplyHead) => void
}

/** `insist`: after `admit` was answered with `busy`. */
export type AdmitMode = 'admit' | 'insist' | 'hit' | 'preview'

export interface SharedAsk {
  readonly mode: AdmitMode
  readonly id: string
  readonly tokens: number
  readonly cost: bigint
  /** No cap is looked at, because the request costs nothing. */
  readonly isFree: boolean
  readonly facts: string
  readonly accounts: readonly AccountEntry[]
}

/** A hold that this process has to charge, because its own has died: its id and its record. */
export type HoldClaim = readonly [id: string, record: string]

export type SharedDecision = ReplyHead &
  (
    | {
        readonly status: 'admitted' | 'refused'
        readonly subjects: readonly SharedSubject[]
        readonly claims: readonly HoldClaim[]
      }
    /** Refused because of other requests, which may be over. */
    | { readonly status: 'busy'; readonly claims: readonly HoldClaim[] }
    | Unseeded
    /** Nothing was done: the deadline was over, or the server has lost its data. */
    | { readonly status: 'late' | 'empty' }
  )

/** The server does not know some subjects. They may be loaded after `wait`. */
interface Unseeded {
  readonly status: 'unseeded'
  readonly wait: Millis
  readonly names: readonly SubjectName[]
}

/** More that is to be reserved for a request that runs. */
export interface ExtensionAsk {
  readonly id: string
  /** The most that each budget has to reserve for the request, with what it has reserved already. */
  readonly cost: bigint
  readonly facts: string
  readonly accounts: readonly AccountEntry[]
  /** After `busy`: refuse rather than have it asked again. */
  readonly insists: boolean
}

export type ExtensionDecision = ReplyHead &
  (
    | { readonly status: 'reserved' | 'refused'; readonly subjects: readonly SharedSubject[] }
    /** The server has no such hold: it has lost it, or (`gone`) it was charged as that of a process that has died. */
    | { readonly status: 'unknown' | 'gone' }
    /** Refused because of other requests, which may be over. */
    | { readonly status: 'busy' }
    | Unseeded
    | { readonly status: 'late' | 'empty' }
  )

export type SharedReading = ReplyHead &
  ({ readonly status: 'known'; readonly subjects: readonly SharedSubject[] } | Unseeded)

/** The server has lost its data since. */
type EmptyReading = ReplyHead & { readonly status: 'empty' }

/** What the database knows of a process that has ended. */
export interface SharedClosing {
  /** The life of the server's data in which it was read. */
  readonly epoch: string
  readonly process: string
  /** The share is false for a subject of which the database knows no charge. */
  readonly shares: readonly (readonly [name: SubjectName, share: string | false])[]
}

/**
 * How a hold ends. `lost`: it was that of a process that has died. `recorded`: the same, and its request has a
 * row; it remains while that process may only be slow.
 */
export type EndMode = 'settle' | 'withdraw' | 'lost' | 'recorded'

export interface HoldEnd {
  readonly id: string
  readonly mode: EndMode
  /** Used tokens; undefined keeps the debit. */
  readonly tokens: number | undefined
}

/** `gone`: it has ended before. */
export type EndOutcome = 'ended' | 'gone'

/** What a settlement delivers. */
export interface Delivery {
  readonly ends: readonly HoldEnd[]
  /** What this process has charged to each subject, as the server keeps it. */
  readonly shares: readonly (readonly [name: SubjectName, share: string])[]
}

/** A subject whose alert has fired. */
export type Fired = readonly [name: SubjectName, subject: SharedSubject]

/** The functions of the library for accounts, with typed arguments and replies. */
export class SharedFunctions {
  readonly #options: SharedFunctionsOptions

  constructor(options: SharedFunctionsOptions) {
    this.#options = options
  }

  /** Begins an epoch with this id if there is none. */
  async open(epoch: string): Promise<ReplyHead> {
    return (await this.#call('open', [epoch])).head
  }

  /** `deadline`: the time of the server after which the call must do nothing. */
  async admit(ask: SharedAsk, deadline: Millis): Promise<SharedDecision> {
    const { mode, id, tokens, facts, accounts } = ask
    const { lease, onLostHold } = this.#options
    const subjects = accounts.map((account) => writeLimits(account, ask))
    const args = [deadline, lease, onLostHold, mode, id, tokens, facts, subjects]
    const { head, rest } = await this.#call('admit', args)
    const [status, ...values] = rest
    switch (status) {
      case 'admitted':
      case 'refused': {
        // In the form of the function, and so are all casts below.
        const written = values.slice(0, accounts.length) as WrittenSubject[]
        const claims = values.slice(accounts.length) as HoldClaim[]
        const { now, epoch } = head
        return { now, epoch, status, subjects: written.map(readSubject), claims }
      }
      case 'busy':
        return { ...head, status, claims: values as HoldClaim[] }
      case 'unseeded':
        return { ...head, ...readUnseeded(values) }
      default:
        return { ...head, status: status === 'late' ? 'late' : 'empty' }
    }
  }

  /** `deadline` as for `admit`. May be repeated: it reserves the whole amount, not one more time. */
  async extend(ask: ExtensionAsk, deadline: Millis): Promise<ExtensionDecision> {
    const { id, facts, accounts, insists } = ask
    const subjects = accounts.map((account) => writeLimits(account, { ...ask, isFree: false }))
    const args = [deadline, insists ? 'insist' : 'extend', id, facts, subjects]
    const { head, rest } = await this.#call('extend', args)
    const [status, ...values] = rest
    switch (status) {
      case 'reserved':
      case 'refused':
        return { ...head, status, subjects: (values as WrittenSubject[]).map(readSubject) }
      case 'unseeded':
        return { ...head, ...readUnseeded(values) }
      case 'unknown':
      case 'gone':
      case 'busy':
      case 'late':
        return { ...head, status }
      default:
        return { ...head, status: 'empty' }
    }
  }

  /**
   * Ends holds and replaces what this process has charged. `take` is called when the settlement is sent: in this
   * turn of the event loop, or when it can wait, with the next call or a moment later.
   */
  async settle(
    take: () => Delivery,
    canWait: boolean,
  ): Promise<{ readonly outcomes: readonly EndOutcome[]; readonly fired: readonly Fired[] }> {
    const { state } = this.#options
    let count = 0
    const args = () => {
      const { ends, shares } = take()
      count = ends.length
      const holds = ends.map(({ id, mode, tokens }) => [id, mode, tokens ?? false])
      return [this.#options.process, holds, shares]
    }
    const { rest } = this.#read(await state.batch({ name: 'settle', args, canWait }))
    const fired = rest.slice(count) as [SubjectName, WrittenSubject][]
    return {
      outcomes: rest.slice(0, count) as EndOutcome[],
      fired: fired.map(([name, written]) => [name, readSubject(written)]),
    }
  }

  /** Renews leases. Resolves to the holds that the server does not know, and to the claims. */
  async renew(
    ids: readonly string[],
  ): Promise<{ readonly unknown: readonly string[]; readonly claims: readonly HoldClaim[] }> {
    const { lease, onLostHold } = this.#options
    const { rest } = await this.#call('renew', [lease, onLostHold, ids])
    const list = rest as (string | HoldClaim)[]
    return {
      unknown: list.filter((one) => typeof one === 'string'),
      claims: list.filter((one) => typeof one !== 'string'),
    }
  }

  /**
   * Lists the holds of this process among some of all, from a cursor: `0` begins, and is the next one at the end.
   */
  async listHolds(
    cursor: string,
  ): Promise<{ readonly next: string; readonly ids: readonly string[] }> {
    const { rest } = await this.#call('holds', [cursor])
    const [next, ...ids] = rest as [string, ...string[]]
    return { next, ids }
  }

  /** Writes holds, each its id and its record. */
  async restore(holds: readonly (readonly [id: string, record: string])[]): Promise<void> {
    await this.#call('restore', [this.#options.lease, holds])
  }

  /** Loads subjects that were read from the database in this epoch. */
  async seed(epoch: string, subjects: readonly WrittenSeed[]): Promise<void> {
    await this.#call('seed', [epoch, subjects])
  }

  /** Lists the processes that have charged something in this life of the data. */
  async processes(): Promise<{ readonly epoch: string; readonly processes: readonly string[] }> {
    const { head, rest } = await this.#call('processes', [])
    return { epoch: head.epoch, processes: rest as string[] }
  }

  /** Lists what a process has charged. */
  async charges(process: string): Promise<readonly SubjectName[]> {
    return (await this.#call('charges', [process])).rest as SubjectName[]
  }

  /** Replaces what a process has charged by its final shares. Does nothing in another epoch. */
  async close({ epoch, process, shares }: SharedClosing): Promise<SharedReading | EmptyReading> {
    const { head, rest } = await this.#call('close', [epoch, process, shares])
    return rest[0] === 'empty' ? { ...head, status: 'empty' } : readReading(head, rest)
  }

  /** Forgets which part of the spend was that of a process. Resolves to whether the epoch is the same. */
  async forget(epoch: string, process: string, names: readonly SubjectName[]): Promise<boolean> {
    const { head } = await this.#call('forget', [epoch, process, names])
    return head.epoch === epoch
  }

  /** Follows a change of the record of a subject. */
  async configure(name: SubjectName, { record, term }: AccountEntry): Promise<void> {
    const { budgetPeriod, budgetMax } = record
    const cap = budgetMax === null ? [] : writeAmount(budgetMax)
    const period = [budgetPeriod ?? '', term.since, writeOptional(term.resetsAt)]
    await this.#call('configure', [name, ...period, cap])
  }

  /** Lets subjects go that are past, some time later. */
  async expire(names: readonly SubjectName[]): Promise<void> {
    await this.#call('expire', [names])
  }

  async read(names: readonly SubjectName[]): Promise<SharedReading> {
    const { head, rest } = await this.#call('read', [names])
    return readReading(head, rest)
  }

  /** Takes back a hit that was counted in this minute of the server. */
  async unhit(minute: number, names: readonly SubjectName[]): Promise<void> {
    await this.#call('unhit', [minute, names])
  }

  async #call(name: string, args: readonly unknown[]) {
    const { state, process } = this.#options
    return this.#read(await state.batch({ name, args: () => [process, ...args] }))
  }

  #read(reply: readonly unknown[]) {
    const head: ReplyHead = { now: Number(reply[0]), epoch: String(reply[1]) }
    this.#options.onReply(head)
    return { head, rest: reply.slice(2) }
  }
}

function readReading(head: ReplyHead, [status, ...values]: readonly unknown[]): SharedReading {
  if (status === 'unseeded') return { ...head, ...readUnseeded(values) }
  return { ...head, status: 'known', subjects: (values as WrittenSubject[]).map(readSubject) }
}

function writeLimits(
  { scope, record }: AccountEntry,
  { cost, isFree }: Pick<SharedAsk, 'cost' | 'isFree'>,
): WrittenAsked {
  const { rpmLimit, tpmLimit, maxParallel, budgetMax } = record
  // Without a cap that counts there is nothing to reserve.
  const cap = isFree ? null : budgetMax
  const [cap_usd, cap_nano] = cap === null ? [false as const, 0] : writeAmount(cap)
  const [usd, nano] = cap === null ? [0, 0] : writeAmount(cost)
  return writeList(askedFields, {
    name: nameSubject(scope, record.id),
    rpm: writeOptional(rpmLimit),
    tpm: writeOptional(tpmLimit),
    parallel: writeOptional(maxParallel),
    cap_usd,
    cap_nano,
    usd,
    nano,
  })
}

function readUnseeded([wait, ...names]: readonly unknown[]): Unseeded {
  // Names that this process has sent.
  return { status: 'unseeded', wait: Number(wait), names: names as SubjectName[] }
}
