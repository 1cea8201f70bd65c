import { useAnswer } from './answer.ts'
import { formatSpan } from './format.ts'
import type { Minute, Status, UsageGroup } from './shapes.ts'

export interface Totals {
  readonly requests: number
  /** Those that ended with a server error. */
  readonly failed: number
  readonly tokens: number
  /** In US dollars. */
  readonly cost: number
}

export interface LastHour {
  readonly totals: Totals
  /** The time that the totals cover, in words. */
  readonly window: string
}

const hour = 3600

/**
 * The totals of the last hour. The gateway counts from its start; what was before is read from the usage log, which has no
 * requests that were refused without a row.
 */
export function useLastHour({ now, started_at: startedAt, minutes }: Status): LastHour {
  const isYoung = now - startedAt < hour
  // A new question each minute.
  const since = Math.floor(now / 60) * 60 - hour
  const { value: before } = useAnswer<{ readonly groups: readonly UsageGroup[] }>(
    isYoung ? `/admin/usage?group_by=total&since=${since}&until=${startedAt - 1}` : undefined,
  )
  const counted = countMinutes(minutes)
  if (!isYoung) return { totals: counted, window: 'in the last hour' }
  if (!before)
    return { totals: counted, window: `since the start ${formatSpan(now - startedAt)} ago` }
  const [sum] = before.groups
  return { totals: sum ? addSum(counted, sum) : counted, window: 'in the last hour' }
}

function countMinutes(minutes: readonly Minute[]): Totals {
  const total = (count: (minute: Minute) => number) =>
    minutes.reduce((sum, minute) => sum + count(minute), 0)
  const failed = total(({ requests_server_error: errors }) => errors)
  const others = total(({ requests_ok: ok, requests_client_error: errors }) => ok + errors)
  return {
    requests: failed + others,
    failed,
    tokens: total(({ tokens_in: tokensIn, tokens_out: tokensOut }) => tokensIn + tokensOut),
    cost: total(({ cost }) => cost),
  }
}

function addSum(totals: Totals, sum: UsageGroup): Totals {
  return {
    requests: totals.requests + sum.requests,
    failed: totals.failed + sum.requests_server_error,
    tokens: totals.tokens + sum.tokens_in + sum.tokens_out,
    cost: totals.cost + sum.cost,
  }
}
