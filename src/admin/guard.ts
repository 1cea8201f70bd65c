import { challenge, type MasterKey } from '../auth/index.ts'
import { GatewayError } from '../core/errors.ts'
import type { AdminHandler, AdminRequest, AdminRoutes } from './input.ts'

export interface Guard {
  readonly master: Pick<MasterKey, 'isPresentedIn'>
  /** A request showed no master key, or a wrong one. */
  readonly refused: (matched: AdminRequest) => void
}

/** The same routes for requests that show the master key, LM-4004 for all others. */
export function requireMasterKey(routes: AdminRoutes, { master, refused }: Guard): AdminRoutes {
  const guard =
    (handle: AdminHandler): AdminHandler =>
    async (matched) => {
      if (await master.isPresentedIn(matched.request.headers)) return handle(matched)
      refused(matched)
      throw new GatewayError('LM-4004', 'the master key is missing or wrong', {
        headers: challenge,
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
