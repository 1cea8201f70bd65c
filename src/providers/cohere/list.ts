import * as z from 'zod'
import { capabilities } from '../../core/capability.ts'
import type { ModelLister } from '../../core/model-list.ts'
import { toNextPage } from '../base/model-list.ts'
import { cohereUrl } from './url.ts'

const page = z.looseObject({
  models: z.array(
    z.looseObject({ name: z.string(), endpoints: z.array(z.string()).nullish().catch(null) }),
  ),
  next_page_token: z.string().nullish(),
})

/** https://docs.cohere.com/reference/list-models */
export const cohereModels: ModelLister = {
  buildRequest({ baseUrl }, token) {
    const url = new URL(cohereUrl(baseUrl, 'chat').replace(/\/v2\/chat(?=$|\?)/, '/v1/models'))
    url.searchParams.set('page_size', '1000')
    if (token !== undefined) url.searchParams.set('page_token', token)
    return { url: url.href, headers: {} }
  },
  readPage(body) {
    const parsed = page.safeParse(body)
    if (!parsed.success) return undefined
    return {
      models: parsed.data.models.map(({ name, endpoints }) => ({
        name,
        capabilities: endpoints?.length
          ? capabilities.filter((one) => endpoints.includes(one))
          : undefined,
      })),
      ...toNextPage(parsed.data.next_page_token),
    }
  },
}
