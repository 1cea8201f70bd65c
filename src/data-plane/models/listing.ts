import type { Principal } from '../../core/admission.ts'
import type { ErrorForm } from '../../core/reply.ts'
import type { ListedModel } from '../../core/route.ts'
import type { Snapshot } from '../../snapshot/index.ts'
import { modelForbidden } from './model-access.ts'

/** The configured models, and the sender of the request that asks for them. */
export interface Listing {
  readonly snapshot: Snapshot
  readonly caller: Pick<Principal, 'mayUse' | 'findRefusingList'>
}

/** The form in which an API lists models. */
export interface ModelListing {
  /** The form of errors and headers; by default that of chat completions. */
  readonly form?: ErrorForm
  /** The paths at which every request asks in the manner of this API, besides `/v1/models`. */
  readonly paths?: readonly string[]
  /** Why a POST to a model is 404: the API has methods of models there that are not served. */
  readonly absent?: string
  /** Whether a request to a path that several APIs have asks in the manner of this one. */
  isFor(request: Pick<Request, 'method' | 'url' | 'headers'>): boolean
  /** Renders the models that the caller may use. Throws LM-1001 for an invalid query. */
  list(models: readonly ListedModel[], query: URLSearchParams): object
  /** Renders one model, or throws LM-2001. */
  describe(model: ListedModel): object
}

/** The form of the OpenAI API, for every request that asks in no other manner. */
export const plainListing: ModelListing = Object.freeze<ModelListing>({
  isFor: () => true,
  list: (models, query) => ({
    object: 'list',
    data: models.map(renderEntry),
    // Codex reads this member, and takes its own description of a model that is not in it.
    ...(query.has('client_version') && { models: [] }),
  }),
  describe: renderEntry,
})

/** Lists the models that the caller may use. */
export function listAllowed({ snapshot, caller }: Listing): readonly ListedModel[] {
  return snapshot.listed().filter(({ id }) => caller.mayUse(id))
}

/** Returns the model of `GET /v1/models/{id}`, or throws LM-2001 or LM-4005. */
export function findAllowed(id: string, listing: Listing): ListedModel {
  const { snapshot, caller } = listing
  const model = snapshot.describe(id, caller)
  if (!caller.mayUse(id)) throw modelForbidden(id, listing)
  return model
}

function renderEntry({ id, provider, created, capabilities, modalities }: ListedModel): object {
  // A route belongs to no single provider.
  const owner = provider?.name ?? 'gateway'
  return { id, object: 'model', created, owned_by: owner, capabilities, modalities }
}
