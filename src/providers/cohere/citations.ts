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
 * What a citation says of the answer, a source each. `starts` tells where each block of text begins
 * in the answer, whose joined text is what the client counts by.
 */
export function toAnnotations(citation: Citation, starts: readonly number[]): Annotation[] {
  // Plans and thoughts are cited as well, and are no part of the text.
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
