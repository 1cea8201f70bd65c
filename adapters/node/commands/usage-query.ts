import * as z from 'zod'
import { listIntervals, type UsageInterval } from '../../../src/store/index.ts'
import type { AdminClient } from '../admin/client.ts'

/** What to sum, by the parameters of `GET /admin/usage`. Times are unix seconds, both included. */
export interface UsageFilters {
  readonly since: number
  readonly until: number
  readonly groupBy: string
  readonly keyId?: string
  readonly groupId?: string
  readonly model?: string
  readonly provider?: string
}

const intervalSchema = z.looseObject({
  start: z.number(),
  tokens_in: z.number(),
  tokens_out: z.number(),
  cost: z.number(),
})

const sumSchema = z.looseObject({
  group: z.string(),
  requests: z.number(),
  requests_ok: z.number(),
  tokens_in: z.number(),
  tokens_out: z.number(),
  // A gateway of an earlier version has none.
  cached_tokens: z.number().default(0),
  cost: z.number(),
  intervals: z.array(intervalSchema),
})

/** The sums of one group of rows, and of each interval with rows, in the order of time. */
export type GroupSum = z.infer<typeof sumSchema>

const answerSchema = z.looseObject({ truncated: z.boolean(), groups: z.array(sumSchema) })

export interface UsageGroup extends GroupSum {
  /** The name of the key or group; undefined for other groupings and unknown ids. */
  readonly name: string | undefined
}

export interface UsageReport {
  readonly filters: UsageFilters
  readonly interval: UsageInterval
  /** The starts of all intervals of the window, in unix seconds. */
  readonly starts: readonly number[]
  readonly groups: readonly UsageGroup[]
  /** There are more than 1,000 groups. */
  readonly truncated: boolean
}

/** Resolves to the answer of the admin API for a whole window. */
export function readSums(admin: AdminClient, filters: UsageFilters): Promise<unknown> {
  const query = new URLSearchParams({
    since: String(filters.since),
    until: String(filters.until),
    group_by: filters.groupBy,
    interval: chooseInterval(filters),
    limit: '1000',
  })
  if (filters.keyId !== undefined) query.set('key_id', filters.keyId)
  if (filters.groupId !== undefined) query.set('group_id', filters.groupId)
  if (filters.model !== undefined) query.set('model', filters.model)
  if (filters.provider !== undefined) query.set('provider', filters.provider)
  return admin.send('GET', `/admin/usage?${query}`)
}

/** Resolves to the sums of a window, with the names of keys and groups. */
export async function readUsage(admin: AdminClient, filters: UsageFilters): Promise<UsageReport> {
  const { groups, truncated } = answerSchema.parse(await readSums(admin, filters))
  const interval = chooseInterval(filters)
  const names = await readNames(admin, filters.groupBy)
  return {
    filters,
    interval,
    starts: listIntervals(interval, filters),
    truncated,
    groups: groups.map((sum) => ({ ...sum, name: names.get(sum.group) })),
  }
}

/** The orders of the rows: by an amount, the largest first, or by name. */
export const usageOrders = [
  'cost',
  'requests',
  'failed',
  'tokens_in',
  'tokens_out',
  'name',
] as const
export type UsageOrder = (typeof usageOrders)[number]

/** Orders the groups, which the admin API orders by cost. Equal ones keep their order. */
export function sortUsage(usage: UsageReport, order: UsageOrder): UsageReport {
  if (order === 'cost') return usage
  const groups = [...usage.groups].sort((one, other) =>
    order === 'name'
      ? nameOf(one).localeCompare(nameOf(other))
      : amountOf(other, order) - amountOf(one, order),
  )
  return { ...usage, groups }
}

function nameOf({ name, group }: UsageGroup): string {
  return name ?? group
}

function amountOf(sum: GroupSum, order: Exclude<UsageOrder, 'cost' | 'name'>): number {
  return order === 'failed' ? sum.requests - sum.requests_ok : sum[order]
}

const short = [
  ['hour', 3_600],
  ['day', 86_400],
  ['week', 604_800],
] as const

/** Returns the shortest interval of which at most 48 fill the window; else a month. */
function chooseInterval({ since, until }: UsageFilters): UsageInterval {
  const [interval] = short.find(([, seconds]) => (until - since) / seconds <= 48) ?? ['month']
  return interval
}

const namedSchema = z.array(z.object({ id: z.string(), name: z.string() }))

/** Resolves to the names by id, deleted ones too, when rows stand for keys or groups. */
async function readNames(admin: AdminClient, groupBy: string) {
  const noun = groupBy === 'key_id' ? 'keys' : groupBy === 'group_id' ? 'groups' : undefined
  if (noun === undefined) return new Map<string, string>()
  const answer = await admin.send('GET', `/admin/${noun}?include_deleted=true`)
  const list = z.looseObject({ [noun]: namedSchema }).parse(answer)[noun]
  return new Map(namedSchema.parse(list).map(({ id, name }) => [id, name]))
}
