import * as z from 'zod'
import type { Capability } from '../../core/capability.ts'
import type { ModelLister } from '../../core/model-list.ts'
import { toNextPage } from '../base/model-list.ts'
import { googleModelUrl } from './url.ts'

const page = z.looseObject({
  models: z
    .array(
      z.looseObject({
        name: z.string(),
        supportedGenerationMethods: z.array(z.string()).nullish().catch(null),
      }),
    )
    .default([]),
  nextPageToken: z.string().nullish(),
})

/** The methods by which the gateway serves a capability. */
const methods: Readonly<Record<string, Capability>> = {
  generateContent: 'chat',
  embedContent: 'embed',
  batchEmbedContents: 'embed',
}

/** https://ai.google.dev/api/models#method:-models.list */
export const googleModels: ModelLister = {
  buildRequest({ baseUrl }, token) {
    const url = googleModelUrl(baseUrl, '')
    url.pathname = url.pathname.replace(/\/$/, '')
    url.searchParams.set('pageSize', '1000')
    if (token !== undefined) url.searchParams.set('pageToken', token)
    return { url: url.href, headers: {} }
  },
  readPage(body) {
    const parsed = page.safeParse(body)
    if (!parsed.success) return undefined
    return {
      models: parsed.data.models.map(({ name, supportedGenerationMethods: supported }) => ({
        name: name.replace(/^models\//, ''),
        aliases: [name],
        capabilities: supported?.length
          ? supported.flatMap((method) => methods[method] ?? [])
          : undefined,
      })),
      ...toNextPage(parsed.data.nextPageToken),
    }
  },
}
