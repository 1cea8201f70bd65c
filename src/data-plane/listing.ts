import type { Model } from '../core/provider.ts'
import type { Snapshot } from '../snapshot/index.ts'

/** The body of `GET /v1/models`. */
export function listModels(snapshot: Snapshot): object {
  return { object: 'list', data: snapshot.models().map(entry) }
}

/** The body of `GET /v1/models/{id}`; LM-2001 when there is no such model. */
export function describeModel(snapshot: Snapshot, id: string): object {
  return entry(snapshot.model(id))
}

function entry({ id, provider, created, capabilities, modalities }: Model): object {
  return { id, object: 'model', created, owned_by: provider.name, capabilities, modalities }
}
