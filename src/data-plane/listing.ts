import type { Principal } from '../core/admission.ts'
import type { ModelRoute } from '../core/route.ts'
import type { Snapshot } from '../snapshot/index.ts'
import { modelForbidden } from './model-access.ts'

/** The configured models, and the sender of the request that asks for them. */
export interface Listing {
  readonly snapshot: Snapshot
  readonly caller: Pick<Principal, 'mayUse'>
}

/** Returns the body of `GET /v1/models`: the models that the caller may use. */
export function listModels({ snapshot, caller }: Listing): object {
  const routes = snapshot.routes().filter(({ id }) => caller.mayUse(id))
  return { object: 'list', data: routes.map(renderEntry) }
}

/** Returns the body of `GET /v1/models/{id}`, or throws LM-2001 or LM-4005. */
export function describeModel(id: string, { snapshot, caller }: Listing): object {
  if (!caller.mayUse(id)) throw modelForbidden(id, snapshot)
  return renderEntry(snapshot.route(id))
}

function renderEntry({ id, provider, created, capabilities, modalities }: ModelRoute): object {
  // A route belongs to no single provider.
  const owner = provider?.name ?? 'gateway'
  return { id, object: 'model', created, owned_by: owner, capabilities, modalities }
}
