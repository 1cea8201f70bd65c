import * as z from 'zod'
import { auditActions, getAuditScope } from '../core/audit.ts'
import type { Millis } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import { jsonReply, type Reply } from '../core/reply.ts'
import type { AuditQuery, AuditRow, Store } from '../store/index.ts'
import type { AdminRequest, AdminRoutes } from './input.ts'
import { bounds, choice, name, parseQuery, queryNumber, resolveWindow } from './usage-query.ts'

export interface AuditRouteDeps {
  readonly store: Pick<Store, 'listAudit'>
  readonly clock: Clock
}

/** The read-only route of the audit log. */
export function auditRoutes(deps: AuditRouteDeps): AdminRoutes {
  return { '/admin/audit': { GET: (matched) => listAudit(matched, deps) } }
}

const auditQuery = z.strictObject({
  ...bounds,
  action: choice(auditActions).optional(),
  subject_id: name.optional(),
  cursor: queryNumber(0, Number.MAX_SAFE_INTEGER).default(0),
  limit: queryNumber(1, 1000).default(1000),
})

function parseAuditQuery(query: URLSearchParams, now: Millis): AuditQuery {
  const { action, subject_id: subjectId, cursor, limit, ...window } = parseQuery(auditQuery, query)
  return { ...resolveWindow(window, now), action, subjectId, cursor, limit }
}

async function listAudit({ request }: AdminRequest, deps: AuditRouteDeps): Promise<Reply> {
  const query = parseAuditQuery(new URL(request.url).searchParams, deps.clock.now())
  const rows = await deps.store.listAudit(query)
  // A full page may be the last one; the cursor then leads to an empty page.
  const next = rows.length < query.limit ? null : rows.at(-1)?.id
  const { since, until } = query
  return jsonReply({ since, until, rows: rows.map(renderRow), next_cursor: next })
}

function renderRow({ id, ts, action, subjectId, requestId, client }: AuditRow): object {
  return {
    id,
    ts,
    action,
    scope: getAuditScope(action),
    subject_id: subjectId,
    request_id: requestId,
    client,
  }
}
