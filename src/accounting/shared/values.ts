import type { AccountState, BudgetScope } from '../../core/accounts.ts'
import { type BudgetPeriod, budgetPeriods } from '../../core/budget-period.ts'
import type { NanoUsd, UnixSeconds } from '../../core/ids.ts'
import { joinAmount, splitAmount } from '../../store/index.ts'
import type { SharedCounts } from '../account-entry.ts'

/*
 * The values that the functions on the server take and return: see src/shared/functions.
 */

/** An amount: whole dollars, rounded down, and billionths. */
export type WrittenAmount = readonly [usd: number, nano: number]

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
  return JSON.stringify([sequence, since, ...writeAmount(amount), ...writeAmount(total)])
}

type WrittenShare = readonly [sequence: number, since: number, ...WrittenAmount, ...WrittenAmount]

/** Writes the share of a process that has ended: no call of its own that is still to run may change it. */
export function writeFinalShare(share: Omit<Share, 'sequence'>): string {
  return writeShare({ ...share, sequence: Number.MAX_SAFE_INTEGER })
}

function readShare(written: WrittenShare | false): Share {
  if (!written) return noShare
  const [sequence, since, usd, nano, totalUsd, totalNano] = written
  return {
    sequence,
    since,
    amount: joinAmount(usd, nano),
    total: joinAmount(totalUsd, totalNano),
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

/** A subject in a reply. */
export type WrittenSubject = readonly [
  period: string,
  since: number,
  resets: number | false,
  ...spent: WrittenAmount,
  ...total: WrittenAmount,
  ...reserved: WrittenAmount,
  running: number,
  requests: number,
  tokens: number,
  share: WrittenShare | false,
  alert: string | false,
]

export function readSubject(written: WrittenSubject): SharedSubject {
  const [period, since, resets, usd, nano, totalUsd, totalNano, reservedUsd, reservedNano] = written
  return {
    term: {
      period: budgetPeriods.find((one): one is BudgetPeriod => one === period) ?? null,
      since,
      resetsAt: resets === false ? null : resets,
    },
    spent: joinAmount(usd, nano),
    spentTotal: joinAmount(totalUsd, totalNano),
    reserved: joinAmount(reservedUsd, reservedNano),
    running: written[9],
    requests: written[10],
    tokens: written[11],
    share: readShare(written[12]),
    alert: written[13] === false ? undefined : readAlert(written[13]),
  }
}

function readAlert(text: string): SharedAlert {
  if (text === 'exhausted') return { kind: 'exhausted' }
  const [from, to] = text.split('-').map(Number)
  return { kind: 'risen', from: from ?? 0, to: to ?? 0 }
}
