import * as z from 'zod'
import type { ModelLister } from '../../core/model-list.ts'
import { toNextPage } from '../base/model-list.ts'
import { apiVersion } from './native.ts'
import { buildMessagesUrl } from './url.ts'

const page = z.looseObject({
  data: z.array(z.looseObject({ id: z.string() })),
  has_more: z.boolean().nullish(),
  last_id: z.string().nullish(),
})

/** https://platform.claude.com/docs/en/api/models/list */
export const anthropicModels: ModelLister = {
  buildRequest({ baseUrl }, token) {
    const url = new URL(buildMessagesUrl(baseUrl).replace(/\/messages(?=$|\?)/, '/models'))
    url.searchParams.set('limit', '1000')
    if (token !== undefined) url.searchParams.set('after_id', token)
    return { url: url.href, headers: { 'anthropic-version': apiVersion } }
  },
  readPage(body) {
    const parsed = page.safeParse(body)
    if (!parsed.success) return undefined
    const { data, has_more: hasMore, last_id: lastId } = parsed.data
    return {
      models: data.map(({ id: name }) => ({ name, aliases: listAliases(name) })),
      ...(hasMore && toNextPage(lastId ?? data.at(-1)?.id)),
    }
  },
}

/**
 * The names of a version with a date that are served too: `claude-sonnet-4-5`, `claude-sonnet-4-0`,
 * `claude-3-7-sonnet-latest`. https://platform.claude.com/docs/en/about-claude/models/overview
 */
function listAliases(name: string): readonly string[] {
  const undated = name.replace(/-20\d{6}$/, '')
  return undated === name ? [] : [undated, `${undated}-0`, `${undated}-latest`]
}
