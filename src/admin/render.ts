import type { GroupState, KeyState } from '../core/accounts.ts'
import { toUsd } from '../core/money.ts'
import { asHeaderList, headerList } from '../core/ports.ts'
import type { Reply } from '../core/reply.ts'
import { readFailure } from '../core/request-failure.ts'
import type { FailedLink } from '../core/request-record.ts'

/** The reply to a change without a result. */
export const noContent: Reply = Object.freeze({ status: 204, headers: headerList({}), body: null })

/** Forbids caching, for a reply that shows a secret. */
export function withoutCaching(reply: Reply): Reply {
  return { ...reply, headers: asHeaderList([...reply.headers, 'cache-control', 'no-store']) }
}

/** Renders a key for the API, without its digest and its secret. */
export function renderKey(state: KeyState): object {
  const { record } = state
  return {
    id: record.id,
    name: record.name,
    group_id: record.groupId,
    ...renderLimits(state),
    expires_at: record.expiresAt,
    disabled: record.disabled,
    grace_ends_at: record.graceEndsAt,
    created_at: record.createdAt,
    deleted_at: record.deletedAt,
  }
}

/** Renders a group for the API. */
export function renderGroup(state: GroupState): object {
  const { record } = state
  return {
    id: record.id,
    name: record.name,
    ...renderLimits(state),
    created_at: record.createdAt,
    deleted_at: record.deletedAt,
  }
}

function renderLimits(state: KeyState | GroupState): object {
  const { record, spent, spentTotal, reserved, running, term } = state
  return {
    models: record.models,
    budget_max: record.budgetMax === null ? null : toUsd(record.budgetMax),
    budget_period: record.budgetPeriod,
    budget_spent: toUsd(spent),
    budget_reserved: toUsd(reserved),
    budget_resets_at: term.resetsAt,
    spent_total: toUsd(spentTotal),
    rpm_limit: record.rpmLimit,
    tpm_limit: record.tpmLimit,
    max_parallel: record.maxParallel,
    priority: record.priority,
    in_flight: running,
  }
}

/** Renders why a request was refused, and the links that failed, as a row keeps it. */
export function renderFailure(text: string | null) {
  const { reason, failed } = readFailure(text)
  return { reason, failed: failed.map(renderLink) }
}

/** Every member is there, as in all answers. */
function renderLink(link: FailedLink) {
  return { ...link, status: link.status ?? null, code: link.code ?? null }
}
