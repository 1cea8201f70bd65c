import { challenge, type Master } from '../auth/index.ts'
import { GatewayError } from '../core/errors.ts'
import type { AdminHandler, AdminRoutes } from './input.ts'

/** The same routes for whoever shows the master key, LM-4004 for everybody else. */
export function guarded(routes: AdminRoutes, master: Pick<Master, 'isShownIn'>): AdminRoutes {
  const guard =
    (handle: AdminHandler): AdminHandler =>
    async (matched) => {
      if (await master.isShownIn(matched.request.headers)) return handle(matched)
      throw new GatewayError('LM-4004', 'the master key is missing or wrong', {
        headers: challenge,
      })
    }
  return mapped(routes, (methods) => mapped(methods, guard))
}

function mapped<Value>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value) => Value,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}
