import type {
  AccountState,
  BudgetGroup,
  GroupState,
  KeyState,
  VirtualKey,
} from '../core/accounts.ts'
import type { Millis } from '../core/ids.ts'
import { toUsd } from '../core/money.ts'
import type { RequestOrigin } from '../core/origin.ts'
import type { Clock } from '../core/ports.ts'
import { jsonReply, type Reply } from '../core/reply.ts'
import { RunningByKey } from '../core/running-by-key.ts'
import type { Store } from '../store/index.ts'
import type { AdminHandler, AdminRequest, AdminRoutes } from './input.ts'
import { withoutCaching } from './render.ts'
import { replyWithSums } from './usage.ts'
import { parseUsageQuery } from './usage-query.ts'

export interface OwnKeyRouteDeps {
  readonly store: Pick<Store, 'sumUsage' | 'sumUsageByInterval'>
  readonly clock: Clock
  readonly accounts: HeldAccounts
  /** Returns the key of a request. Throws LM-4004 unless it has a valid one. */
  readonly identify: (request: Request, origin: RequestOrigin) => KeyState
  /** Whether the holder of a key sees the amounts of its group. */
  readonly showsGroup: () => boolean
}

/** The keys and groups in memory. */
export interface HeldAccounts {
  /** Returns the group whose limits apply to a key. */
  getGroupOf(key: KeyState): GroupState | undefined
  /** Brings the spend and the counts of these up to date, where processes share them. */
  refresh(states: readonly (KeyState | GroupState)[]): Promise<void> | void
  /** The wall clock by which minutes and terms end. */
  now(): Millis
}

/**
 * The routes by which the holder of a key reads what it may use and what it has used. The key alone opens them, and
 * they take nothing from its limits.
 */
export function ownKeyRoutes(deps: OwnKeyRouteDeps): AdminRoutes {
  const running = new RunningByKey({ max: maxAtOnce, name: 'requests to /v1/key' })
  const forHolder =
    (answer: (key: KeyState, matched: AdminRequest) => Promise<Reply>): AdminHandler =>
    async (matched) => {
      const key = deps.identify(matched.request, matched.context)
      const leave = running.enter(key.record.id)
      try {
        return withoutCaching(await answer(key, matched))
      } finally {
        leave()
      }
    }
  return {
    '/v1/key': { GET: forHolder((key) => showKey(key, deps)) },
    '/v1/key/usage': { GET: forHolder((key, matched) => showUsage(key, matched, deps)) },
  }
}

/** Each may read the database. */
const maxAtOnce = 16

async function showKey(key: KeyState, { accounts, showsGroup }: OwnKeyRouteDeps): Promise<Reply> {
  const group = accounts.getGroupOf(key)
  await accounts.refresh(group ? [key, group] : [key])
  const now = accounts.now()
  return jsonReply({
    name: key.record.name,
    group: group?.record.name ?? null,
    models: key.record.models ?? group?.record.models ?? null,
    expires_at: key.record.expiresAt,
    ...renderAmounts(key, now),
    ...(group && showsGroup() && { group_amounts: renderAmounts(group, now) }),
  })
}

function renderAmounts(state: AccountState<VirtualKey | BudgetGroup>, now: Millis): object {
  const { record, spent, reserved, term, running, requests, tokens } = state
  return {
    budget: {
      max: record.budgetMax === null ? null : toUsd(record.budgetMax),
      spent: toUsd(spent),
      reserved: toUsd(reserved),
      period: record.budgetPeriod,
      resets_at: term.resetsAt,
    },
    limits: {
      rpm: renderLimit(record.rpmLimit, requests.used(now)),
      tpm: renderLimit(record.tpmLimit, tokens.used(now)),
      max_parallel: renderLimit(record.maxParallel, running),
    },
  }
}

/** Null without a limit. More may be used than a limit allows, since estimates are replaced by counts. */
function renderLimit(limit: number | null, used: number): object | null {
  return limit === null ? null : { limit, remaining: Math.max(0, limit - used) }
}

function showUsage(
  { record }: KeyState,
  { request }: AdminRequest,
  { store, clock }: OwnKeyRouteDeps,
): Promise<Reply> {
  const { searchParams } = new URL(request.url)
  searchParams.delete('key_id')
  const query = parseUsageQuery(searchParams, clock.now())
  return replyWithSums({ ...query, keyId: record.id }, { store })
}
