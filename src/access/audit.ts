import type { Audit } from '../core/audit.ts'
import { errorFields } from '../core/error-fields.ts'
import type { Clock, Log } from '../core/ports.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import { createAuditLogger } from '../records/index.ts'
import type { Store } from '../store/index.ts'

export interface AuditOptions {
  readonly store: Pick<Store, 'addAudit'>
  readonly clock: Clock
  readonly log: Log
}

/** Creates the audit log: a line in the log and a row in the database for each change. */
export function createAudit({ store, clock, log }: AuditOptions): Audit {
  const writeLine = createAuditLogger(log)
  return Object.freeze<Audit>({
    describe: (change, { id, client }) => ({
      ts: unixSeconds(clock),
      ...change,
      requestId: id,
      client: client ?? null,
    }),
    log: writeLine,
    async add(entry) {
      writeLine(entry)
      // The change is made. Failing the request would make its client repeat it.
      await store.addAudit(entry).catch((error: unknown) => {
        const { action, requestId } = entry
        const fields = { action, request_id: requestId, ...errorFields(error) }
        log.write('error', 'cannot write the audit row of a change', fields)
      })
    },
  })
}
