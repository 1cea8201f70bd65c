import type { Account, BudgetScope } from '../../core/accounts.ts'
import type { BudgetTerm } from '../../core/budget-period.ts'
import type { Api } from '../../core/capability.ts'
import type { GroupId, KeyId, NanoUsd, RequestId } from '../../core/ids.ts'
import type { NamedRoute } from '../../core/route.ts'
import { joinAmount } from '../../store/index.ts'
import type { AccountEntry } from '../account-entry.ts'
import { findPlaces, heldFields, holdFields, type WrittenHold, writeList } from './records.ts'
import { nameSubject, type SubjectName, writeAmount } from './values.ts'

/** What an admitted request holds of one subject. */
export interface SubjectHold {
  readonly account: AccountEntry
  readonly term: BudgetTerm
  /** Reserved of the budget: 0 without a cap. Grows with attempts that fail and are charged. */
  reserved: bigint
}

/** What the usage row of a request says when its process has died. */
export interface HoldFacts {
  readonly id: RequestId
  readonly model: string
  readonly provider: string
  readonly api: Api
  readonly stream: boolean
  /** The cost at most. Grows with attempts that fail and are charged. */
  cost: bigint
}

/** What can be charged for a request. */
export interface ChargedHold {
  readonly facts: HoldFacts
  readonly subjects: readonly Pick<SubjectHold, 'account' | 'term'>[]
}

/** An admitted request that has not ended. */
export interface SharedHold extends ChargedHold {
  readonly id: string
  readonly minute: number
  /** The debit of the TPM limits. */
  readonly tokens: number
  readonly subjects: readonly SubjectHold[]
}

/** Returns the id of a process's hold with this number. */
export function nameHold(process: string, number: number): string {
  return `${process}-${number}`
}

/** Returns the process that has admitted the request of a hold. */
export function processOf(hold: string): string {
  return hold.slice(0, hold.lastIndexOf('-'))
}

export function nameAccount({ scope, record }: AccountEntry): SubjectName {
  return nameSubject(scope, record.id)
}

export function listSubjects({ subjects }: Pick<ChargedHold, 'subjects'>): SubjectName[] {
  return subjects.map(({ account }) => nameAccount(account))
}

export interface FactSource extends Pick<HoldFacts, 'id' | 'api' | 'stream'> {
  readonly route: NamedRoute
  readonly named?: NamedRoute | undefined
}

export function factsOf(
  { id, api, stream, route, named = route }: FactSource,
  cost: bigint,
): HoldFacts {
  return { id, api, stream, model: named.id, provider: named.provider?.name ?? '', cost }
}

export function writeFacts({ id, api, stream, model, provider, cost }: HoldFacts): string {
  return JSON.stringify({ id, api, stream, model, provider, cost: String(cost) })
}

/** Writes the record of a hold that the server does not know. Its terms are over where it has none. */
export function writeRecord(process: string, hold: SharedHold): string {
  const subjects = hold.subjects.map(({ account, term, reserved }) => {
    const [usd, nano] = writeAmount(term.since === account.term.since ? reserved : 0n)
    const { since } = term
    // The counts of its minute are lost.
    const counts = { requests: 0, tokens: 0 }
    return writeList(heldFields, { name: nameAccount(account), since, usd, nano, ...counts })
  })
  const { minute, tokens, facts } = hold
  const head = writeList(holdFields, { owner: process, minute, tokens, subjects })
  return `${JSON.stringify(head)}\n${writeFacts(facts)}`
}

/** The hold of a process that has died, from its record. */
export interface LostHold {
  readonly id: string
  /** When it was admitted, in minutes of the server's time. */
  readonly minute: number
  readonly facts: HoldFacts
  readonly account: Account
  /** The beginning of the terms that are charged. */
  readonly terms: readonly { readonly name: SubjectName; readonly since: number }[]
  /** Reserved of the budgets: the same amount of each that has a cap. */
  readonly reserved: NanoUsd
}

const inHold = findPlaces(holdFields)
const inHeld = findPlaces(heldFields)

export function readRecord(id: string, record: string): LostHold {
  const [head = '', facts = ''] = record.split('\n')
  // Written above, or by the server.
  const hold = JSON.parse(head) as WrittenHold
  const subjects = hold[inHold.subjects]
  const terms = subjects.map((held) => ({
    name: held[inHeld.name] as SubjectName,
    since: held[inHeld.since],
  }))
  const amounts = subjects.map((held) => joinAmount(held[inHeld.usd], held[inHeld.nano]))
  return {
    id,
    minute: hold[inHold.minute],
    facts: readFacts(facts),
    account: {
      keyId: findId(terms, 'key') as KeyId,
      groupId: (findId(terms, 'group') as GroupId | undefined) ?? null,
    },
    terms,
    reserved: amounts.reduce((most, own) => (own > most ? own : most), 0n as NanoUsd),
  }
}

function readFacts(text: string): HoldFacts {
  // Written by `writeFacts`, of this release or another one.
  const { cost, ...facts } = JSON.parse(text)
  return { ...facts, cost: BigInt(cost) }
}

function findId(terms: LostHold['terms'], scope: BudgetScope): string | undefined {
  return terms.find(({ name }) => name.startsWith(`${scope}:`))?.name.slice(scope.length + 1)
}
