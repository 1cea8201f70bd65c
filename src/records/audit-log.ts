import type { Audit } from '../core/audit.ts'
import type { Log } from '../core/ports.ts'

/** Logs one line for each change made through the admin API. */
export function auditLog(log: Log): Audit {
  return ({ action, subjectId }, { id, client }) =>
    log.write('info', 'audit', {
      action,
      scope: action.split('.')[0],
      subject_id: subjectId,
      request_id: id,
      client,
    })
}
