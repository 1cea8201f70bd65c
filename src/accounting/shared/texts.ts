import type { AccountState, BudgetScope } from '../../core/accounts.ts'
import { type BudgetPeriod, type BudgetTerm, budgetPeriods } from '../../core/budget-period.ts'
import type { NanoUsd, UnixSeconds } from '../../core/ids.ts'
import { joinAmount, splitAmount } from '../../store/index.ts'
import type { SharedCounts } from '../account-entry.ts'

/*
 * The texts that the functions on the server take and return: see src/shared/functions.lua.
 */

/** `USD:NANO`. */
export function writeAmount(amount: bigint): string {
  // Every amount of this folder is one of nano-dollars.
  const { usd, nano } = splitAmount(amount as NanoUsd)
  return `${usd}:${nano}`
}

export function readAmount(text: string): NanoUsd {
  const [usd, nano] = text.split(':')
  return joinAmount(Number(usd), Number(nano))
}

/** Writes a limit, or any other value that may be absent. */
export function writeOptional(value: number | string | null): string {
  return value === null ? '' : String(value)
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

export function writeShare({ sequence, since, amount, total }: Share): string {
  return `${sequence}|${since}|${writeAmount(amount)}|${writeAmount(total)}`
}

function readShare(text: string): Share {
  if (text === '') return noShare
  const [sequence, since, amount = '', total = ''] = text.split('|')
  return {
    sequence: Number(sequence),
    since: Number(since),
    amount: readAmount(amount),
    total: readAmount(total),
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

/** The number of texts of one subject in a reply. */
export const subjectLength = 11

export function readSubject(texts: readonly string[]): SharedSubject {
  const [period, since, resets, spent = '', total = '', reserved = ''] = texts
  const [running, requests, tokens, share = '', alert = ''] = texts.slice(6)
  return {
    term: readTerm({ period, since, resets }),
    spent: readAmount(spent),
    spentTotal: readAmount(total),
    reserved: readAmount(reserved),
    running: Number(running),
    requests: Number(requests),
    tokens: Number(tokens),
    share: readShare(share),
    alert: readAlert(alert),
  }
}

interface TermTexts {
  readonly period: string | undefined
  readonly since: string | undefined
  readonly resets: string | undefined
}

function readTerm({ period, since, resets }: TermTexts): BudgetTerm {
  return {
    period: budgetPeriods.find((one): one is BudgetPeriod => one === period) ?? null,
    since: Number(since),
    resetsAt: resets ? Number(resets) : null,
  }
}

function readAlert(text: string): SharedAlert | undefined {
  if (text === '') return undefined
  if (text === 'exhausted') return { kind: 'exhausted' }
  const [from, to] = text.split('-').map(Number)
  return { kind: 'risen', from: from ?? 0, to: to ?? 0 }
}
