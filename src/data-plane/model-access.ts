import { GatewayError } from '../core/errors.ts'
import type { Snapshot } from '../snapshot/index.ts'

/** Makes LM-4005 for a model that the sender may not use. Throws LM-2001 when it does not exist. */
export function modelForbidden(id: string, snapshot: Pick<Snapshot, 'route'>): GatewayError {
  snapshot.route(id)
  const message = 'the key may not use this model; GET /v1/models lists the models that it may use'
  return new GatewayError('LM-4005', message, { param: 'model' })
}
