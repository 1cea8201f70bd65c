import type { Millis } from '../../core/ids.ts'
import type { SharedState } from '../../core/shared-state.ts'
import type { AccountEntry } from '../account-entry.ts'
import {
  readSubject,
  type SharedSubject,
  type SubjectName,
  subjectLength,
  writeAmount,
  writeOptional,
} from './texts.ts'

/** What every reply begins with. */
export interface ReplyHead {
  /** The time of the server. */
  readonly now: Millis
  /** The life of its data; empty when it has none. */
  readonly epoch: string
}

export interface SharedFunctionsOptions {
  readonly state: Pick<SharedState, 'call'>
  /** The id of this process. */
  readonly process: string
  readonly lease: Millis
  readonly onLostHold: 'charge' | 'release'
  /** Called with each reply, before its caller continues. */
  readonly onReply: (head: ReplyHead) => void
}

export type AdmitMode = 'admit' | 'hit' | 'preview'

export interface SharedAsk {
  readonly mode: AdmitMode
  readonly id: string
  /** The time of the server after which the call must do nothing. */
  readonly deadline: Millis
  readonly tokens: number
  readonly cost: bigint
  readonly facts: string
  readonly accounts: readonly AccountEntry[]
}

/** A hold that this process has to charge, because its own has died: its id and its record. */
export type Claim = readonly [id: string, record: string]

export type SharedDecision = ReplyHead &
  (
    | {
        readonly status: 'admitted' | 'refused'
        readonly subjects: readonly SharedSubject[]
        readonly claims: readonly Claim[]
      }
    | Unseeded
    /** Nothing was done: the deadline was over, or the server has lost its data. */
    | { readonly status: 'late' | 'empty' }
  )

/** The server does not know some subjects. They may be brought after `wait`. */
interface Unseeded {
  readonly status: 'unseeded'
  readonly wait: Millis
  readonly names: readonly SubjectName[]
}

export type SharedReading = ReplyHead &
  ({ readonly status: 'known'; readonly subjects: readonly SharedSubject[] } | Unseeded)

/** How a hold ends. `lost`: it was that of a process that has died. */
export type EndMode = 'settle' | 'withdraw' | 'lost'

export interface HoldEnd {
  readonly id: string
  readonly mode: EndMode
  /** Used tokens; undefined keeps the debit. */
  readonly tokens: number | undefined
}

/** `gone`: it has ended before. `charged`: another process has charged it as lost. */
export type EndOutcome = 'ended' | 'gone' | 'charged'

/** The functions of the library, with typed arguments and replies. */
export class SharedFunctions {
  readonly #options: SharedFunctionsOptions

  constructor(options: SharedFunctionsOptions) {
    this.#options = options
  }

  /** Begins an epoch with this id if there is none. */
  async open(epoch: string): Promise<ReplyHead> {
    return (await this.#call('open', [epoch])).head
  }

  async admit(ask: SharedAsk): Promise<SharedDecision> {
    const { mode, id, deadline, tokens, cost, facts, accounts } = ask
    const { lease, onLostHold } = this.#options
    const limits = accounts.flatMap((account) => writeLimits(account, cost))
    const call = [String(deadline), String(lease), onLostHold, mode, id, String(tokens), facts]
    const { head, rest } = await this.#call('admit', [...call, ...limits])
    const [status, ...texts] = rest
    switch (status) {
      case 'admitted':
      case 'refused': {
        const end = accounts.length * subjectLength
        const subjects = readSubjects(texts.slice(0, end))
        return { ...head, status, subjects, claims: toClaims(texts.slice(end)) }
      }
      case 'unseeded':
        return { ...head, ...readUnseeded(texts) }
      default:
        return { ...head, status: status === 'late' ? 'late' : 'empty' }
    }
  }

  async settle(
    ends: readonly HoldEnd[],
    shares: readonly (readonly [name: SubjectName, share: string])[],
  ): Promise<{ readonly outcomes: EndOutcome[]; readonly subjects: readonly SharedSubject[] }> {
    const holds = ends.flatMap(({ id, mode, tokens }) => [id, mode, writeOptional(tokens ?? null)])
    const { rest } = await this.#call('settle', [String(ends.length), ...holds, ...shares.flat()])
    return {
      // In the words of the function.
      outcomes: rest.slice(0, ends.length) as EndOutcome[],
      subjects: readSubjects(rest.slice(ends.length)),
    }
  }

  /** Renews leases. Resolves to the holds that the server does not know, and to the claims. */
  async renew(
    ids: readonly string[],
  ): Promise<{ readonly unknown: readonly string[]; readonly claims: readonly Claim[] }> {
    const { lease, onLostHold } = this.#options
    const { rest } = await this.#call('renew', [String(lease), onLostHold, ...ids])
    const [count, ...texts] = rest
    const end = Number(count)
    return { unknown: texts.slice(0, end), claims: toClaims(texts.slice(end)) }
  }

  /** Writes holds, each its id and its record. */
  async restore(holds: readonly (readonly [id: string, record: string])[]): Promise<void> {
    await this.#call('restore', [String(this.#options.lease), ...holds.flat()])
  }

  /** Brings subjects, each in the texts that the function expects. */
  async seed(subjects: readonly (readonly string[])[]): Promise<void> {
    await this.#call('seed', subjects.flat())
  }

  /** Follows a change of the record of a subject. */
  async configure(name: SubjectName, { record, term }: AccountEntry): Promise<void> {
    const { budgetPeriod, budgetMax } = record
    const times = [String(term.since), writeOptional(term.resetsAt)]
    const cap = budgetMax === null ? '' : writeAmount(budgetMax)
    await this.#call('configure', [name, writeOptional(budgetPeriod), ...times, cap])
  }

  async read(names: readonly SubjectName[]): Promise<SharedReading> {
    const { head, rest } = await this.#call('read', names)
    const [status, ...texts] = rest
    if (status === 'unseeded') return { ...head, ...readUnseeded(texts) }
    return { ...head, status: 'known', subjects: readSubjects(texts) }
  }

  /** Takes back a hit that was counted in this minute of the server. */
  async unhit(minute: number, names: readonly SubjectName[]): Promise<void> {
    await this.#call('unhit', [String(minute), ...names])
  }

  async #call(name: string, args: readonly string[]) {
    const { state, process, onReply } = this.#options
    const [now, epoch = '', ...rest] = await state.call(name, [process, ...args])
    const head: ReplyHead = { now: Number(now), epoch }
    onReply(head)
    return { head, rest }
  }
}

function writeLimits(account: AccountEntry, cost: bigint): readonly string[] {
  const { scope, record } = account
  const { rpmLimit, tpmLimit, maxParallel, budgetMax } = record
  return [
    `${scope}:${record.id}`,
    writeOptional(rpmLimit),
    writeOptional(tpmLimit),
    writeOptional(maxParallel),
    budgetMax === null ? '' : writeAmount(budgetMax),
    writeAmount(budgetMax === null ? 0n : cost),
  ]
}

function readSubjects(texts: readonly string[]): readonly SharedSubject[] {
  return Array.from({ length: texts.length / subjectLength }, (_, at) =>
    readSubject(texts.slice(at * subjectLength, (at + 1) * subjectLength)),
  )
}

function toClaims(texts: readonly string[]): readonly Claim[] {
  return Array.from({ length: texts.length / 2 }, (_, at) => [
    texts[2 * at] ?? '',
    texts[2 * at + 1] ?? '',
  ])
}

function readUnseeded([wait, ...names]: readonly string[]): Unseeded {
  // Names that this process has sent.
  return { status: 'unseeded', wait: Number(wait), names: names as SubjectName[] }
}
