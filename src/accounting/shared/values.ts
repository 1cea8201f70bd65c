import type { AccountState, BudgetScope } from '../../core/accounts.ts'
import { type BudgetPeriod, budgetPeriods } from '../../core/budget-period.ts'
import type { NanoUsd, UnixSeconds } from '../../core/ids.ts'
import { joinAmount, splitAmount } from '../../store/index.ts'
import type { SharedCounts } from '../account-entry.ts'
import {
  findPlaces,
  shareFields,
  subjectFields,
  type WrittenAmount,
  type WrittenShare,
  type WrittenSubject,
  writeList,
} from './records.ts'

/*
 * The values that the functions on the server take and return: see src/shared/functions.
 */

export function writeAmount(amount: bigint): WrittenAmount {
  // Every amount of this folder is one of nano-dollars.
  const { usd, nano } = splitAmount(amount as NanoUsd)
  return [Number(usd), Number(nano)]
}

/** A value that may be absent. */
export function writeOptional<Value>(value: Value | null): Value | false {
  return value ?? false
}

/** A key or a group as the server names it: `key:ID`. */
export type SubjectName = `${BudgetScope}:${string}`

export function nameSubject(scope: BudgetScope, id: string): SubjectName {
  return `${scope}:${id}`
}

/** What one process has charged to a subject, and how often it has changed. */
export interface Share {
  readonly sequence: number
  /** When the latest term that was charged began. */
  readonly since: UnixSeconds
  /** Charged to that term. */
  readonly amount: bigint
  readonly total: bigint
}

export const noShare: Share = Object.freeze({ sequence: 0, since: 0, amount: 0n, total: 0n })

/** Writes a share as the server keeps it. */
export function writeShare({ sequence, since, amount, total }: Share): string {
  const [usd, nano] = writeAmount(amount)
  const [total_usd, total_nano] = writeAmount(total)
  return JSON.stringify(
    writeList(shareFields, { sequence, since, usd, nano, total_usd, total_nano }),
  )
}

/** Writes the share of a process that has ended: no call of its own that is still to run may change it. */
export function writeFinalShare(share: Omit<Share, 'sequence'>): string {
  return writeShare({ ...share, sequence: Number.MAX_SAFE_INTEGER })
}

const inShare = findPlaces(shareFields)

function readShare(written: WrittenShare | false): Share {
  if (!written) return noShare
  const at = inShare
  return {
    sequence: written[at.sequence],
    since: written[at.since],
    amount: joinAmount(written[at.usd], written[at.nano]),
    total: joinAmount(written[at.total_usd], written[at.total_nano]),
  }
}

/** A subject as the server has it. */
export interface SharedSubject
  extends Pick<AccountState<unknown>, 'spent' | 'spentTotal' | 'reserved' | 'term'>,
    SharedCounts {
  /** What this process has charged, as far as the server knows. */
  readonly share: Share
  /** The alert that the call has fired; undefined for none. */
  readonly alert: SharedAlert | undefined
}

/** The budget was refused for the first time, or the spend has risen past a percentage of the cap. */
export type SharedAlert =
  | { readonly kind: 'exhausted' }
  | { readonly kind: 'risen'; readonly from: number; readonly to: number }

const inSubject = findPlaces(subjectFields)

export function readSubject(written: WrittenSubject): SharedSubject {
  const at = inSubject
  const period = written[at.period]
  const resets = written[at.resets]
  const alert = written[at.alert]
  return {
    term: {
      period: budgetPeriods.find((one): one is BudgetPeriod => one === period) ?? null,
      since: written[at.since],
      resetsAt: resets === false ? null : resets,
    },
    spent: joinAmount(written[at.spent_usd], written[at.spent_nano]),
    spentTotal: joinAmount(written[at.total_usd], written[at.total_nano]),
    reserved: joinAmount(written[at.reserved_usd], written[at.reserved_nano]),
    running: written[at.running],
    requests: written[at.rpm],
    tokens: written[at.tpm],
    share: readShare(written[at.share]),
    alert: alert === false ? undefined : readAlert(alert),
  }
}

function readAlert(text: string): SharedAlert {
  if (text === 'exhausted') return { kind: 'exhausted' }
  const [from, to] = text.split('-').map(Number)
  return { kind: 'risen', from: from ?? 0, to: to ?? 0 }
}
