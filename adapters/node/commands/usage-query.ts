import * as z from 'zod'
import type { AdminClient } from '../admin-client.ts'

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

const sumSchema = z.looseObject({
  group: z.string(),
  requests: z.number(),
  requests_ok: z.number(),
  tokens_in: z.number(),
  tokens_out: z.number(),
  cost: z.number(),
})

/** The sums of one group of rows. */
export type UsageSum = z.infer<typeof sumSchema>

const answerSchema = z.looseObject({ truncated: z.boolean(), groups: z.array(sumSchema) })

export interface UsageGroup extends UsageSum {
  /** The name of the key or group; undefined for other groupings and unknown ids. */
  readonly name: string | undefined
  /** The sums of each step, undefined where there are none. */
  readonly steps: readonly (UsageSum | undefined)[]
}

export interface Usage {
  readonly filters: UsageFilters
  /** The duration of a step, in seconds: an hour, a day, a week or 30 days. */
  readonly step: number
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
    limit: '1000',
  })
  if (filters.keyId !== undefined) query.set('key_id', filters.keyId)
  if (filters.groupId !== undefined) query.set('group_id', filters.groupId)
  if (filters.model !== undefined) query.set('model', filters.model)
  if (filters.provider !== undefined) query.set('provider', filters.provider)
  return admin.send('GET', `/admin/usage?${query}`)
}

/** Resolves to the sums of a window and of each step in it, with the names of keys and groups. */
export async function readUsage(admin: AdminClient, filters: UsageFilters): Promise<Usage> {
  const { groups, truncated } = answerSchema.parse(await readSums(admin, filters))
  const step = chooseStep(filters)
  const steps: Map<string, UsageSum>[] = []
  for (const window of splitWindow(filters, step)) {
    const answer = answerSchema.parse(await readSums(admin, { ...filters, ...window }))
    steps.push(new Map(answer.groups.map((sum) => [sum.group, sum])))
  }
  const names = await readNames(admin, filters.groupBy)
  return {
    filters,
    step,
    truncated,
    groups: groups.map((sum) => ({
      ...sum,
      name: names.get(sum.group),
      steps: steps.map((sums) => sums.get(sum.group)),
    })),
  }
}

const hour = 3_600
const day = 24 * hour

/** Returns the shortest step of which at most 48 fill the window; else 30 days. */
function chooseStep({ since, until }: UsageFilters): number {
  return [hour, day, 7 * day].find((step) => (until - since) / step <= 48) ?? 30 * day
}

/** Splits a window at multiples of the step, at most 400 times: the last part takes the rest. */
function splitWindow({ since, until }: UsageFilters, step: number) {
  const windows = []
  for (let start = since; start <= until && windows.length < 400; ) {
    const next = (Math.floor(start / step) + 1) * step
    windows.push({ since: start, until: Math.min(next - 1, until) })
    start = next
  }
  return windows
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
