import type { RequestOrigin } from '../core/origin.ts'
import type { Clock, Log } from '../core/ports.ts'
import { maskSecrets } from '../wire/mask.ts'
import { LineLimit } from './line-limit.ts'

export interface RefusalLogOptions {
  readonly log: Log
  readonly clock: Clock
}

export interface RefusedRequest {
  readonly request: Pick<Request, 'method' | 'url'>
  readonly origin: RequestOrigin
  readonly status: number
}

/** Lines for requests that are refused before anything is known of them. */
export interface RefusalLog {
  add(refusal: RefusedRequest): void
  /** Writes what is counted and not yet written. */
  close(): void
}

/** Requests that no route takes: an unknown path, or a method that its path does not take. */
export function unroutedLog({ log, clock }: RefusalLogOptions): RefusalLog {
  return createRefusalLog(
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
  return createRefusalLog(new LineLimit({ clock, perSecond: 1, write }))
}

function createRefusalLog(lines: LineLimit): RefusalLog {
  return {
    add: ({ request: { method, url }, origin: { id, client }, status }) =>
      lines.add(() => ({
        request_id: id,
        method: method.slice(0, maxMethodLength),
        path: maskPath(url),
        status,
        client,
      })),
    close: () => lines.close(),
  }
}

const maxMethodLength = 20
const maxPathLength = 200

/** Without the query, which may hold a key; of the path so much, and without such a key. */
function maskPath(url: string): string {
  const { pathname } = new URL(url)
  return maskSecrets(pathname.slice(0, 2 * maxPathLength))
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .slice(0, maxPathLength)
}
