import { GatewayError, invalid } from '../../core/errors.ts'
import type { ListedModel } from '../../core/route.ts'
import type { ModelListing } from '../../data-plane/index.ts'
import { messagesForm } from './error.ts'

/** The longest page, and the length of a page when the client names none. */
const maxPage = 1000

/** The models in the form of Anthropic's API, for requests with its version header. */
export const messagesModels: ModelListing = Object.freeze<ModelListing>({
  form: messagesForm,
  isFor: ({ headers }) => headers.has('anthropic-version'),
  list(all, query) {
    const models = all.filter(isForChat)
    const { page, hasMore } = cutPage(models, query)
    return {
      data: page.map(renderModel),
      has_more: hasMore,
      first_id: page[0]?.id ?? null,
      last_id: page.at(-1)?.id ?? null,
    }
  },
  describe(model) {
    if (isForChat(model)) return renderModel(model)
    throw new GatewayError('LM-2001', 'the model does not serve chat', { param: 'model' })
  },
})

function isForChat({ capabilities }: ListedModel): boolean {
  return capabilities.includes('chat')
}

function renderModel({ id, created, maxOutputTokens }: ListedModel): object {
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: new Date(created * 1000).toISOString().replace('.000Z', 'Z'),
    ...(maxOutputTokens !== undefined && { max_tokens: maxOutputTokens }),
  }
}

interface Page {
  readonly page: readonly ListedModel[]
  readonly hasMore: boolean
}

/** Returns the models after `after_id`, or those right before `before_id`. */
function cutPage(models: readonly ListedModel[], query: URLSearchParams): Page {
  const limit = readLimit(query.get('limit'))
  const before = query.get('before_id')
  const after = query.get('after_id')
  if (before !== null && after !== null) {
    throw invalid('before_id cannot be combined with after_id', 'before_id')
  }
  if (before !== null) {
    const rest = models.slice(0, findPosition(models, before, 'before_id'))
    return { page: rest.slice(-limit), hasMore: rest.length > limit }
  }
  const rest = after === null ? models : models.slice(findPosition(models, after, 'after_id') + 1)
  return { page: rest.slice(0, limit), hasMore: rest.length > limit }
}

function readLimit(text: string | null): number {
  if (text === null) return maxPage
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > maxPage) {
    throw invalid(`limit: must be a whole number from 1 to ${maxPage}`, 'limit')
  }
  return limit
}

function findPosition(models: readonly ListedModel[], id: string, param: string): number {
  const position = models.findIndex((model) => model.id === id)
  if (position < 0) throw invalid(`${param}: no model has this id`, param)
  return position
}
