import { computed, signal } from '@preact/signals'
import { ApiError, read, send } from './api.ts'
import { keepToken, token } from './session.ts'
import type { Key, RecentRequest, RequestPage, Status, Subject } from './shapes.ts'

/** Why the gateway's state is unknown; undefined while it answers. */
export const outage = signal<string | undefined>(undefined)
/** When the gateway last answered, in unix seconds; undefined before its first answer. */
export const answeredAt = signal<number | undefined>(undefined)
export const status = signal<Status | undefined>(undefined)
/** The last requests, newest first. */
export const requests = signal<readonly RecentRequest[]>([])
export const isPaused = signal(false)
export const keys = signal<readonly Key[]>([])
export const groups = signal<readonly Subject[]>([])

/** The names of keys and groups by their ids. */
export const names = computed(
  () => new Map([...keys.value, ...groups.value].map(({ id, name }) => [id, name])),
)

/** More than the Overview shows: some wait while one of them is open. */
const maxRequests = 100
const pollMs = 1000
/** A gateway that takes longer counts as not reachable. */
const maxAnswerMs = 10_000
/** Keys change by hand, and their spend is not watched by the second. */
const keyPollMs = 5000

/** Logs in with the code of the session. Rejects with an `ApiError` when it is wrong. */
export async function logIn(code: string): Promise<void> {
  const response = await send('/session', { method: 'POST', body: code })
  keepToken(((await response.json()) as OpenedSession).token)
}

interface OpenedSession {
  readonly token: string
}

/** Follows the gateway for as long as the page is open. */
export async function follow(): Promise<never> {
  let after: string | undefined
  let keysReadAt = Number.NEGATIVE_INFINITY
  for (;;) {
    if (!document.hidden && token.value !== undefined) {
      await attempt(async () => {
        const limit = { signal: AbortSignal.timeout(maxAnswerMs) }
        const now = await read<Status>('/admin/status', limit)
        const page = await read<RequestPage>(
          after === undefined
            ? `/admin/requests?limit=${maxRequests}`
            : `/admin/requests?limit=1000&after=${after}`,
          limit,
        )
        status.value = now
        if (!isPaused.value) {
          // The first page has the newest request first, the later ones the oldest.
          if (page.rows.length > 0) {
            addRequests(after === undefined ? page.rows : page.rows.toReversed())
          }
          after = page.after
        }
        const isNew = page.rows.some(({ key_id: id }) => id !== null && !names.value.has(id))
        if (isNew || performance.now() - keysReadAt >= keyPollMs) {
          await readAccounts()
          keysReadAt = performance.now()
        }
      })
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}

/** Reads keys and groups; a change calls it to show its effect at once. */
export async function readAccounts(): Promise<void> {
  const [keyPage, groupPage] = await Promise.all([
    read<{ keys: Key[] }>('/admin/keys'),
    read<{ groups: Subject[] }>('/admin/groups'),
  ])
  keys.value = keyPage.keys
  groups.value = groupPage.groups
}

function addRequests(newestFirst: readonly RecentRequest[]): void {
  requests.value = [...newestFirst, ...requests.value].slice(0, maxRequests)
}

async function attempt(work: () => Promise<void>): Promise<void> {
  try {
    await work()
    outage.value = undefined
    answeredAt.value = Date.now() / 1000
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) keepToken(undefined)
    else outage.value = describeOutage(error)
  }
}

function describeOutage(error: unknown): string {
  if (error instanceof ApiError) return error.message
  const isSlow = error instanceof DOMException && error.name === 'TimeoutError'
  return isSlow
    ? `the gateway did not answer within ${maxAnswerMs / 1000} s`
    : 'the console has ended'
}
