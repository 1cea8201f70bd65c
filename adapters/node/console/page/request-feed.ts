import { batch, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { read } from './api.ts'
import type { RecentRequest, RequestPage } from './shapes.ts'
import { isPaused, outage } from './state.ts'

const pageRows = 100
const pollMs = 1000
/** As many as a page of later requests may have. */
const maxNew = 1000
/** A list that is followed for hours would make the page slow: then its oldest rows are left out. */
const maxRows = 3000

export interface RequestFeed {
  /** Newest first; undefined until the first page is there. */
  readonly rows: readonly RecentRequest[] | undefined
  /** Why the requests cannot be read. */
  readonly problem: string | undefined
  /** Reads the next page of older requests; undefined when there is none. */
  readonly readOlder: (() => Promise<void>) | undefined
}

/** The requests of a query, page by page, and those that come while the view is open. */
export function useRequestFeed(query: string): RequestFeed {
  const rows = useSignal<readonly RecentRequest[] | undefined>(undefined)
  const cursor = useSignal<string | null>(null)
  const problem = useSignal<string | undefined>(undefined)
  const isDown = outage.value !== undefined

  useEffect(() => {
    const view = { isCurrent: true }
    const path = `/admin/requests?${query}`
    // What comes later is in every window, and without one the gateway reads nothing before it.
    const followed = `/admin/requests?${withoutWindow(query)}`
    let after: string | undefined
    const begin = async () => {
      const page = await read<RequestPage>(`${path}&limit=${pageRows}`)
      if (!view.isCurrent) return
      after = page.after
      batch(() => {
        rows.value = page.rows
        cursor.value = page.next_cursor
      })
    }
    const follow = async () => {
      const page = await read<RequestPage>(`${followed}&limit=${maxNew}&after=${after}`)
      if (!view.isCurrent || isPaused.value) return
      after = page.after
      // These have the oldest first.
      if (page.rows.length > 0) add(page.rows.toReversed())
    }
    const add = (newer: readonly RecentRequest[]) => {
      const all = [...newer, ...(rows.value ?? [])]
      rows.value = all.slice(0, maxRows)
      if (all.length > maxRows) cursor.value = null
    }
    const run = async () => {
      while (view.isCurrent) {
        if (!document.hidden && !(isPaused.value && after !== undefined)) {
          const step = after === undefined ? begin : follow
          const failure = await step().then(() => undefined, describeFailure)
          if (view.isCurrent) problem.value = failure
        }
        await new Promise((resolve) => setTimeout(resolve, pollMs))
      }
    }
    rows.value = undefined
    void run()
    return () => {
      view.isCurrent = false
    }
    // Read anew when the gateway is back.
  }, [query, isDown])

  const readOlder = async () => {
    const from = cursor.value
    if (from === null) return
    const failure = await read<RequestPage>(
      `/admin/requests?${query}&limit=${pageRows}&cursor=${from}`,
    ).then((page) => {
      // Another query may have begun meanwhile.
      if (cursor.value !== from) return undefined
      batch(() => {
        rows.value = [...(rows.value ?? []), ...page.rows]
        cursor.value = page.next_cursor
      })
      return undefined
    }, describeFailure)
    problem.value = failure
  }
  return {
    rows: rows.value,
    problem: problem.value,
    readOlder: cursor.value === null ? undefined : readOlder,
  }
}

function withoutWindow(query: string): string {
  const rest = new URLSearchParams(query)
  rest.delete('since')
  return String(rest)
}

function describeFailure(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
