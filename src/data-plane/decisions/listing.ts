import { GatewayError } from '../../core/errors.ts'
import type { ListedModel } from '../../core/route.ts'
import type { ModelListing } from '../models/listing.ts'

/** The models in the form of TypeSafe's API, for requests with the header of its SDKs. https://docs.typesafe.ai */
export const typesafeListing: ModelListing = Object.freeze<ModelListing>({
  isFor: ({ headers }) => headers.has('x-typesafe-sdk'),
  list: (models) => ({ models: models.filter(isForDecisions).map(renderModel) }),
  describe(model) {
    if (isForDecisions(model)) return renderModel(model)
    throw new GatewayError('LM-2001', 'the model does not serve decisions', { param: 'model' })
  },
})

function isForDecisions({ capabilities }: ListedModel): boolean {
  return capabilities.includes('decisions')
}

function renderModel({ id, created }: ListedModel): object {
  const date = new Date(created * 1000).toISOString().slice(0, 'YYYY-MM-DD'.length)
  return { name: id, description: id, release_date: date }
}
