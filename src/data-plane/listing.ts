import type { Model } from '../core/provider.ts'
import type { Snapshot } from '../snapshot/index.ts'

/** Returns the body of `GET /v1/models`. */
export function listModels(snapshot: Snapshot): object {
  return { object: 'list', data: snapshot.models().map(renderEntry) }
}

/** Returns the body of `GET /v1/models/{id}`, or throws LM-2001. */
export function describeModel(snapshot: Snapshot, id: string): object {
  return renderEntry(snapshot.model(id))
}

function renderEntry({ id, provider, created, capabilities, modalities }: Model): object {
  return { id, object: 'model', created, owned_by: provider.name, capabilities, modalities }
}
