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
  /** Called only when a line is written. */
  readonly why?: () => { readonly reason: string; readonly keyId?: string }
}

/** Logs requests that are refused before their model or sender is known. */
export interface RefusalLog {
  add(refusal: RefusedRequest): void
  /** Writes the count of lines that the limit has omitted. */
  close(): void
}

/** Logs requests without a route: an unknown path, or a method that the path does not allow. */
export function unroutedLog({ log, clock }: RefusalLogOptions): RefusalLog {
  return createRefusalLog(
    new LineLimit({
      clock,
      perSecond: 10,
      write: (fields) => log.write('info', 'no route', fields),
    }),
  )
}

/** Logs requests to the data plane or the admin API without a valid key. */
export function loginLog({ log, clock }: RefusalLogOptions): RefusalLog {
  const write = (fields: object) => log.write('warn', 'login refused', { ...fields })
  return createRefusalLog(new LineLimit({ clock, perSecond: 1, write }))
}

function createRefusalLog(lines: LineLimit): RefusalLog {
  return {
    add: ({ request: { method, url }, origin: { id, client }, status, why }) =>
      lines.add(() => {
        const { reason, keyId } = why?.() ?? {}
        return {
          request_id: id,
          method: method.slice(0, maxMethodLength),
          path: maskPath(url),
          status,
          reason,
          key_id: keyId,
          client,
        }
      }),
    close: () => lines.close(),
  }
}

const maxMethodLength = 20
const maxPathLength = 200

/** A master key, or a part of one: more hex digits than any id of the gateway has. */
const masterKeyShape = /[0-9a-f]{33,}/gi

/** Returns the beginning of the path, with keys masked, and without the query, which may hold a key. */
function maskPath(url: string): string {
  const { pathname } = new URL(url)
  return maskSecrets(pathname.slice(0, 2 * maxPathLength))
    .replaceAll(masterKeyShape, '***')
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .slice(0, maxPathLength)
}
