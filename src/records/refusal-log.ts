import type { RequestOrigin } from '../core/origin.ts'
import type { Clock, Log } from '../core/ports.ts'
import { maskSecrets } from '../wire/mask.ts'
import { LineLimit } from './line-limit.ts'

export interface RefusalLogOptions {
  readonly log: Log
  readonly clock: Clock
}

export interface Refusal {
  readonly request: Pick<Request, 'method' | 'url'>
  readonly origin: RequestOrigin
  readonly status: number
}

/** Lines for requests that are refused before anything is known of them. */
export interface RefusalLog {
  add(refusal: Refusal): void
  /** Writes what is counted and not yet written. */
  close(): void
}

/** Requests that no route takes: an unknown path, or a method that its path does not take. */
export function unroutedLog({ log, clock }: RefusalLogOptions): RefusalLog {
  return refusalLog(
    new LineLimit({
      clock,
      perSecond: 10,
      write: (fields) => log.write('info', 'no route', fields),
    }),
  )
}

/** Requests to the data plane or the admin API that show no valid key. */
export function loginLog({ log, clock }: RefusalLogOptions): RefusalLog {
  const write = (fields: object) => log.write('warn', 'login refused', { ...fields })
  return refusalLog(new LineLimit({ clock, perSecond: 1, write }))
}

function refusalLog(lines: LineLimit): RefusalLog {
  return {
    add: ({ request: { method, url }, origin: { id, client }, status }) =>
      lines.add(() => ({
        request_id: id,
        method: method.slice(0, longestMethod),
        path: shownPath(url),
        status,
        client,
      })),
    close: () => lines.close(),
  }
}

const longestMethod = 20
const longestPath = 200

/** Without the query, which may hold a key; of the path so much, and without such a key. */
function shownPath(url: string): string {
  const { pathname } = new URL(url)
  return maskSecrets(pathname.slice(0, 2 * longestPath))
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .slice(0, longestPath)
}
