import { type AuditEntry, getAuditScope } from '../core/audit.ts'
import type { Log } from '../core/ports.ts'

/** Logs one line for each change made through the admin API. */
export function createAuditLogger(log: Log): (entry: AuditEntry) => void {
  return ({ action, subjectId, requestId, client }) =>
    log.write('info', 'audit', {
      action,
      scope: getAuditScope(action),
      subject_id: subjectId,
      request_id: requestId,
      client: client ?? undefined,
    })
}
