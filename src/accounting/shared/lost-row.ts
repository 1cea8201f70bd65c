import { type BudgetTerm, firstTerm } from '../../core/budget-period.ts'
import { capabilityOf } from '../../core/capability.ts'
import type { NanoUsd, RequestId } from '../../core/ids.ts'
import { type ChargedRow, plainBill } from '../../store/index.ts'
import type { HoldFacts } from './hold.ts'

/** A request whose process has died, and what is charged for it. */
export interface LostRequest {
  readonly facts: HoldFacts
  readonly account: Pick<ChargedRow, 'keyId' | 'groupId'>
  readonly keyTerm: BudgetTerm | undefined
  readonly groupTerm: BudgetTerm | undefined
  readonly cost: bigint
  /** Unix seconds. */
  readonly ts: number
}

/** The error code of such rows. */
export const lostCode = 'LM-6002'

/** Returns the usage row of a request whose process has died: status 500, LM-6002, estimated. */
export function toLostRow(lost: LostRequest): ChargedRow {
  const { facts, account, cost, ts, keyTerm = firstTerm, groupTerm = firstTerm } = lost
  return {
    ts,
    requestId: facts.id,
    keyId: account.keyId,
    groupId: account.groupId,
    model: facts.model,
    modelUsed: null,
    provider: facts.provider,
    capability: capabilityOf[facts.api],
    api: facts.api,
    stream: facts.stream,
    tokensIn: 0,
    tokensOut: 0,
    tokensTotal: 0,
    estimated: true,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    searchUnits: 0,
    mediaCount: 0,
    mediaBytes: 0,
    // An amount of nano-dollars.
    cost: cost as NanoUsd,
    latencyMs: 0,
    ttftMs: null,
    attempts: 0,
    cacheHit: false,
    status: 500,
    errorCode: lostCode,
    metadata: {},
    ...plainBill,
    queuedMs: null,
    failure: null,
    // Nothing is known of the answer.
    cacheWriteLongTokens: null,
    costSource: 'estimated',
    keyTerm,
    groupTerm,
  }
}

/** Returns the row that takes back what was charged for a request, from the request's own row. */
export function toRefund(row: ChargedRow, lostCost: bigint): ChargedRow {
  const { keyTerm, groupTerm, ts, model, provider, api, stream } = row
  // Rows have the ids of their requests.
  const facts = { id: row.requestId as RequestId, model, provider, api, stream, cost: lostCost }
  return toLostRow({ facts, account: row, keyTerm, groupTerm, cost: -lostCost, ts })
}
