import type { Principal } from '../../core/admission.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Snapshot } from '../../snapshot/index.ts'

/** The running configuration, and the sender of a request. */
export interface ModelAccess {
  readonly snapshot: Pick<Snapshot, 'route'>
  readonly caller: Pick<Principal, 'mayUse' | 'findRefusingList'>
}

/** Makes LM-4005 for a model that the sender may not use. Throws LM-2001 when it does not exist. */
export function modelForbidden(id: string, { snapshot, caller }: ModelAccess): GatewayError {
  snapshot.route(id, caller)
  const scope = caller.findRefusingList(id)
  const owner = scope === 'group' ? 'the group of the key' : 'the key'
  const message = `${owner} may not use this model; GET /v1/models lists the models that it may use`
  return new GatewayError('LM-4005', message, { param: 'model', fields: { scope } })
}
