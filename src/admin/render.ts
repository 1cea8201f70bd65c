import type { GroupState, KeyState } from '../core/accounts.ts'
import type { NanoUsd } from '../core/ids.ts'
import { toUsd } from '../core/money.ts'
import { asHeaderList, headerList } from '../core/ports.ts'
import type { Reply } from '../core/reply.ts'

/** The reply to a change without a result. */
export const noContent: Reply = Object.freeze({ status: 204, headers: headerList({}), body: null })

/** Forbids caching, for a reply that shows a secret. */
export function withoutCaching(reply: Reply): Reply {
  return { ...reply, headers: asHeaderList([...reply.headers, 'cache-control', 'no-store']) }
}

/** Renders a key for the API, without its digest and its secret. */
export function renderKey({ record, spent }: Pick<KeyState, 'record' | 'spent'>): object {
  return {
    id: record.id,
    name: record.name,
    group_id: record.groupId,
    models: record.models,
    budget_max: renderCap(record.budgetMax),
    budget_spent: toUsd(spent),
    rpm_limit: record.rpmLimit,
    tpm_limit: record.tpmLimit,
    max_parallel: record.maxParallel,
    expires_at: record.expiresAt,
    disabled: record.disabled,
    created_at: record.createdAt,
    deleted_at: record.deletedAt,
  }
}

/** Renders a group for the API. */
export function renderGroup({ record, spent }: GroupState): object {
  return {
    id: record.id,
    name: record.name,
    models: record.models,
    budget_max: renderCap(record.budgetMax),
    budget_spent: toUsd(spent),
    rpm_limit: record.rpmLimit,
    tpm_limit: record.tpmLimit,
    max_parallel: record.maxParallel,
    created_at: record.createdAt,
    deleted_at: record.deletedAt,
  }
}

function renderCap(budgetMax: NanoUsd | null): number | null {
  return budgetMax === null ? null : toUsd(budgetMax)
}
