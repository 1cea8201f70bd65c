import type { Audit, AuditEntry } from '../../src/core/audit.ts'

/** An entry of the audit log. */
export const auditEntry: AuditEntry = {
  ts: 1_000,
  action: 'webhooks.replace',
  subjectId: null,
  requestId: 'r1',
  client: '192.0.2.7',
}

/** An audit log that keeps nothing. */
export const noAudit: Audit = {
  describe: (change) => ({ ...auditEntry, ...change }),
  log() {},
  async add() {},
}
