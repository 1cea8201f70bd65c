import type { Capability } from '../../core/capability.ts'
import { GatewayError, invalid } from '../../core/errors.ts'
import type { ListedModel } from '../../core/route.ts'
import type { ModelListing } from '../../data-plane/index.ts'
import { listPaths, notServed } from './address.ts'
import { geminiForm } from './error.ts'

/** The longest page, and the length of a page when the client names none. https://ai.google.dev/api/models#method:-models.list */
const maxPage = 1000
const defaultPage = 50

/** The models in the form of Google's API, at its paths and for requests with its headers. */
export const geminiModels: ModelListing = Object.freeze<ModelListing>({
  form: geminiForm,
  paths: listPaths,
  absent: notServed,
  isFor: ({ method, url, headers }) =>
    headers.has('x-goog-api-key') ||
    headers.has('x-goog-api-client') ||
    (method === 'POST' && namesMethod.test(url)),
  list(all, query) {
    const models = all.filter(isServed)
    const token = query.get('pageToken') ?? ''
    const from = token === '' ? 0 : models.findIndex(({ id }) => id === token)
    if (from < 0) throw invalid('pageToken: no page begins with this token', 'pageToken')
    const end = from + readSize(query.get('pageSize'))
    const next = models[end]
    return {
      models: models.slice(from, end).map(renderModel),
      ...(next && { nextPageToken: next.id }),
    }
  },
  describe(model) {
    if (isServed(model)) return renderModel(model)
    throw new GatewayError('LM-2001', 'the model serves no method of this API', { param: 'model' })
  },
})

/** A POST to a model in this form is of no other API, also without the headers. */
const namesMethod = /^[^?#]*\/v1\/models\/[^?#]+:[A-Za-z]+(?:[?#]|$)/

function isServed({ capabilities }: ListedModel): boolean {
  return capabilities.some((one) => one in methods)
}

/** The methods that a model has for each of its capabilities. */
const methods: Readonly<Partial<Record<Capability, readonly string[]>>> = {
  chat: ['generateContent', 'countTokens'],
  embed: ['embedContent', 'batchEmbedContents'],
}

function renderModel({ id, capabilities, maxOutputTokens }: ListedModel): object {
  return {
    name: `models/${id}`,
    displayName: id,
    ...(maxOutputTokens !== undefined && { outputTokenLimit: maxOutputTokens }),
    supportedGenerationMethods: capabilities.flatMap((one) => methods[one] ?? []),
  }
}

function readSize(text: string | null): number {
  if (text === null || text === '') return defaultPage
  const size = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (size < 1) throw invalid('pageSize: must be a whole number from 1', 'pageSize')
  return Math.min(size, maxPage)
}
