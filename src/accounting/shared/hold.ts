import type { Account, BudgetScope } from '../../core/accounts.ts'
import type { BudgetTerm } from '../../core/budget-period.ts'
import type { Api } from '../../core/capability.ts'
import type { GroupId, KeyId, NanoUsd, RequestId } from '../../core/ids.ts'
import type { ModelRoute } from '../../core/route.ts'
import type { AccountEntry } from '../account-entry.ts'
import { nameSubject, readAmount, type SubjectName, writeAmount } from './texts.ts'

/** What an admitted request holds of one subject. */
export interface SubjectHold {
  readonly account: AccountEntry
  readonly term: BudgetTerm
  /** Reserved of the budget: 0 without a cap. */
  readonly reserved: bigint
}

/** What the usage row of a request says when its process has died. */
export interface HoldFacts {
  readonly id: RequestId
  readonly model: string
  readonly provider: string
  readonly api: Api
  readonly stream: boolean
  /** The cost at most. */
  readonly cost: bigint
}

/** An admitted request that has not ended. */
export interface SharedHold {
  readonly id: string
  readonly minute: number
  /** The debit of the TPM limits. */
  readonly tokens: number
  readonly facts: HoldFacts
  readonly subjects: readonly SubjectHold[]
}

export function nameAccount({ scope, record }: AccountEntry): SubjectName {
  return nameSubject(scope, record.id)
}

export function listSubjects({ subjects }: Pick<SharedHold, 'subjects'>): SubjectName[] {
  return subjects.map(({ account }) => nameAccount(account))
}

export interface FactSource extends Pick<HoldFacts, 'id' | 'api' | 'stream'> {
  readonly route: Pick<ModelRoute, 'id' | 'provider'>
}

export function factsOf({ id, api, stream, route }: FactSource, cost: bigint): HoldFacts {
  return { id, api, stream, model: route.id, provider: route.provider?.name ?? '', cost }
}

/** JSON without the character that separates the parts of a record. */
export function writeFacts({ cost, ...facts }: HoldFacts): string {
  return JSON.stringify({ ...facts, cost: String(cost) }).replaceAll('|', '\\u007c')
}

/** Writes the record of a hold that the server does not know. Its terms are over where it has none. */
export function writeRecord(process: string, hold: SharedHold): string {
  const subjects = hold.subjects.flatMap(({ account, term, reserved }) => [
    nameAccount(account),
    String(term.since),
    writeAmount(term.since === account.term.since ? reserved : 0n),
    '00',
  ])
  const { minute, tokens, facts } = hold
  return [process, String(minute), String(tokens), writeFacts(facts), ...subjects].join('|')
}

/** The hold of a process that has died, from its record. */
export interface LostHold {
  readonly id: string
  readonly facts: HoldFacts
  readonly account: Account
  /** The beginning of the terms that are charged. */
  readonly terms: readonly { readonly name: SubjectName; readonly since: number }[]
  /** Reserved of the budgets: the same amount of each that has a cap. */
  readonly reserved: NanoUsd
}

export function readRecord(id: string, record: string): LostHold {
  const [, , , facts = '', ...parts] = record.split('|')
  const terms: { name: SubjectName; since: number }[] = []
  let reserved = 0n as NanoUsd
  for (let at = 0; at < parts.length; at += 4) {
    const [name = '', since, amount = ''] = parts.slice(at, at + 3)
    // Written above, or by the server from a name of ours.
    terms.push({ name: name as SubjectName, since: Number(since) })
    const own = readAmount(amount)
    if (own > reserved) reserved = own
  }
  return {
    id,
    facts: readFacts(facts),
    account: {
      keyId: findId(terms, 'key') as KeyId,
      groupId: (findId(terms, 'group') as GroupId | undefined) ?? null,
    },
    terms,
    reserved,
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
