import { type MasterKey, unauthorizedHeaders } from '../auth/index.ts'
import { GatewayError } from '../core/errors.ts'
import type { AdminHandler, AdminRequest, AdminRoutes } from './input.ts'

export interface Guard {
  readonly master: Pick<MasterKey, 'isPresentedIn'>
  /** Called with a request whose master key is missing or wrong. */
  readonly refused: (matched: AdminRequest) => void
}

/** Wraps routes so that requests without the master key are rejected with LM-4004. */
export function requireMasterKey(routes: AdminRoutes, { master, refused }: Guard): AdminRoutes {
  const guard =
    (handle: AdminHandler): AdminHandler =>
    async (matched) => {
      if (await master.isPresentedIn(matched.request.headers)) return handle(matched)
      refused(matched)
      throw new GatewayError('LM-4004', 'the master key is missing or wrong', {
        headers: unauthorizedHeaders,
      })
    }
  return mapValues(routes, (methods) => mapValues(methods, guard))
}

function mapValues<Value>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value) => Value,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}
