import * as z from 'zod'
import type { ListPage, ModelLister } from '../../core/model-list.ts'
import { buildOperationUrl } from './request.ts'

const entry = z.looseObject({ id: z.string() })
export type OpenAiModel = z.infer<typeof entry>

const entries = z.array(entry.nullable().catch(null))

/** OpenAI's list, the bare array of Together, and the `null` with which Ollama says that it has no model. */
const openAiList = z.union([entries, z.looseObject({ data: entries.nullable() })])

/**
 * Makes the lister of an API like OpenAI's, which has its whole list on one page.
 * https://platform.openai.com/docs/api-reference/models/list
 */
export function openAiLister(
  prefix: string,
  listAliases: (model: OpenAiModel) => readonly string[] = () => [],
): ModelLister {
  return {
    buildRequest: ({ baseUrl }) => ({
      url: buildOperationUrl(baseUrl, prefix, '/models'),
      headers: {},
    }),
    readPage(body) {
      const parsed = openAiList.safeParse(body)
      if (!parsed.success) return undefined
      const list = Array.isArray(parsed.data) ? parsed.data : (parsed.data.data ?? [])
      const models = list.filter((model) => model !== null)
      return { models: models.map((model) => ({ name: model.id, aliases: listAliases(model) })) }
    },
  }
}

/** The token of the next page, as the member of a page. An empty one is that of the last page. */
export function toNextPage(token: string | null | undefined): Pick<ListPage, 'next'> {
  return token ? { next: token } : {}
}
