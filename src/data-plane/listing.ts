import type { Principal } from '../core/admission.ts'
import type { Model } from '../core/provider.ts'
import type { Snapshot } from '../snapshot/index.ts'
import { modelForbidden } from './model-access.ts'

/** The configured models, and the sender of the request that asks for them. */
export interface Listing {
  readonly snapshot: Snapshot
  readonly caller: Pick<Principal, 'mayUse'>
}

/** Returns the body of `GET /v1/models`: the models that the caller may use. */
export function listModels({ snapshot, caller }: Listing): object {
  const models = snapshot.models().filter(({ id }) => caller.mayUse(id))
  return { object: 'list', data: models.map(renderEntry) }
}

/** Returns the body of `GET /v1/models/{id}`, or throws LM-2001 or LM-4005. */
export function describeModel(id: string, { snapshot, caller }: Listing): object {
  if (!caller.mayUse(id)) throw modelForbidden(id, snapshot)
  return renderEntry(snapshot.model(id))
}

function renderEntry({ id, provider, created, capabilities, modalities }: Model): object {
  return { id, object: 'model', created, owned_by: provider.name, capabilities, modalities }
}
