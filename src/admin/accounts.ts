import * as z from 'zod'
import type { AccountState, BudgetScope } from '../core/accounts.ts'
import { type GatewayError, invalid } from '../core/errors.ts'
import type { NanoUsd } from '../core/ids.ts'
import type { GrantError } from '../store/index.ts'
import { type AdminRequest, type AdminRouteDeps, maxParamLength, readJson } from './input.ts'
import { amountField } from './limits.ts'

/*
 * What the routes of keys and of groups have in common. The routes are written twice: their steps are single calls in
 * an order that one reads, and routes for both would need a parameter for nearly each step, which takes more lines.
 */

export interface AccountRouteDeps extends AdminRouteDeps {
  /** Saves all spend in the database. */
  readonly flush: () => Promise<void>
}

const nameRule = 'must be 1 to 256 characters, not all blank, without control characters'

/** A display name. The database cannot store lone surrogates. */
export const nameField = z
  .string({ error: nameRule })
  .regex(/^(?=.*\S)[^\p{Cc}\p{Cs}]{1,256}$/u, { error: nameRule })

const amountRule = 'must be a number of US dollars from 1e-9 to 1e12'

/** The body of a grant. */
export const grantBody = z.strictObject({ amount: amountField(amountRule, 1n) })

/** Reads the body of a grant; LM-1001 when it is invalid. */
export async function readGrant(matched: AdminRequest, deps: AdminRouteDeps): Promise<NanoUsd> {
  return (await readJson(matched, grantBody, deps)).amount
}

/** Returns the row of a grant; throws LM-1001 when the cap cannot take the amount. */
export function checkGrant<Row>(row: Row | GrantError): Row {
  if (row === 'no-cap') {
    throw invalid('amount: there is no budget_max to add to; set one first', 'amount')
  }
  if (row === 'too-much') {
    throw invalid('amount: budget_max would exceed 1e12 US dollars', 'amount')
  }
  return row as Row
}

/** Selects the states that a list shows: deleted ones only when the query asks for them. */
export function selectListed<State extends AccountState<{ readonly deletedAt: number | null }>>(
  matched: AdminRequest,
  states: Iterable<State>,
): State[] {
  const all = includesDeleted(matched)
  return [...states].filter(({ record }) => all || record.deletedAt === null)
}

/** Whether the query asks for deleted records; LM-1001 for any other parameter or value. */
function includesDeleted({ request }: AdminRequest): boolean {
  const query = [...new URL(request.url).searchParams]
  const other = query.find(([name]) => name !== 'include_deleted')
  if (other) {
    throw invalid(
      'unknown parameter; this route takes include_deleted',
      other[0].slice(0, maxParamLength),
    )
  }
  const [value, ...more] = query.map(([, given]) => given)
  if (more.length > 0 || (value !== undefined && value !== 'true' && value !== 'false')) {
    throw invalid('include_deleted: must be true or false, and given once', 'include_deleted')
  }
  return value === 'true'
}

/** Parses the id in the path; LM-1001 when no such id can exist. */
export function parsePathId<Id>(
  { params: { id = '' } }: AdminRequest,
  scope: BudgetScope,
  parse: (text: string) => Id | undefined,
): Id {
  const parsed = parse(id)
  if (parsed === undefined) throw unknownId(scope)
  return parsed
}

export function unknownId(scope: BudgetScope): GatewayError {
  return invalid(`id: no such ${scope}, or it was deleted`, 'id')
}

/**
 * Saves the spend of a record that was just deleted. A failure leaves it due for the next flush.
 */
export async function flushSpend({ flush }: AccountRouteDeps): Promise<void> {
  await flush().catch(() => {})
}
