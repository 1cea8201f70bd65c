import * as z from 'zod'
import { type Annotation } from '../canonical/completion.ts'

const text = z.string().nullish()

const about = z.looseObject({ url: text, title: text })

const source = z.looseObject({
  id: text,
  document: about.nullish().catch(undefined),
  tool_output: about.nullish().catch(undefined),
})

/** One citation of the Cohere API: https://docs.cohere.com/v2/docs/rag-citations */
export const citationSchema = z.looseObject({
  start: z.int().nonnegative(),
  end: z.int().nonnegative(),
  text,
  sources: z.array(source).nullish(),
  content_index: z.int().nonnegative().nullish(),
  type: text,
})

export type Citation = z.infer<typeof citationSchema>

/**
 * Translates a citation into one annotation per source. `starts` holds the start of each block in
 * the joined text of the answer, to which the indexes of annotations refer.
 */
export function toAnnotations(citation: Citation, starts: readonly number[]): Annotation[] {
  // Citations of plans and thoughts are left out: they are not part of the text.
  if (citation.type && citation.type !== 'TEXT_CONTENT') return []
  const offset = starts[citation.content_index ?? 0] ?? 0
  return (citation.sources ?? []).map(({ id, document, tool_output: output }) => {
    const { url, title } = document ?? output ?? {}
    return {
      type: 'url_citation',
      url_citation: {
        start_index: offset + citation.start,
        end_index: offset + citation.end,
        url: url ?? '',
        title: title ?? '',
        text: citation.text ?? '',
        source_id: id ?? '',
      },
    }
  })
}
