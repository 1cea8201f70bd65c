import * as z from 'zod'
import type { Capability } from '../../core/capability.ts'
import type { ModelLister } from '../../core/model-list.ts'
import { toNextPage } from '../base/model-list.ts'
import { vertexListUrl } from './url.ts'

const page = z.looseObject({
  publisherModels: z
    .array(z.looseObject({ name: z.string(), versionId: z.string().nullish() }))
    .default([]),
  nextPageToken: z.string().nullish(),
})

/**
 * The models of Google's own that Vertex AI has, in every region. The credential needs
 * `aiplatform.publisherModels.list`, which the role of a user of Vertex AI has.
 * https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/publishers.models/list
 */
export const vertexModels: ModelLister = {
  buildRequest({ baseUrl }, token) {
    const url = vertexListUrl(baseUrl)
    url.searchParams.set('pageSize', '1000')
    if (token !== undefined) url.searchParams.set('pageToken', token)
    return { url: url.href, headers: {} }
  },
  readPage(body) {
    const parsed = page.safeParse(body)
    if (!parsed.success) return undefined
    return {
      models: parsed.data.publisherModels.map(({ name: full, versionId }) => {
        const [, publisher = 'google', name = full] =
          /^publishers\/([^/]+)\/models\/(.+)$/.exec(full) ?? []
        const versions = versionId ? [`${name}-${versionId}`, `${name}@${versionId}`] : []
        return {
          name,
          aliases: [full, `${publisher}/${name}`, ...versions],
          capabilities: findCapabilities(name),
        }
      }),
      ...toNextPage(parsed.data.nextPageToken),
    }
  },
}

/** The list does not say what a model serves; the others are of pictures, films and speech. */
function findCapabilities(name: string): readonly Capability[] {
  if (/embedding/.test(name)) return ['embed']
  return name.startsWith('gemini-') && !/-live\b|native-audio/.test(name) ? ['chat'] : []
}
