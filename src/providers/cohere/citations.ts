import * as z from 'zod'
import { type Annotation, createAnnotation, listDistinct } from '../canonical/annotations.ts'

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
  const range = { start: offset + citation.start, end: offset + citation.end }
  const annotations = (citation.sources ?? []).flatMap(({ id, document, tool_output: output }) => {
    const { url, title } = document ?? output ?? {}
    return createAnnotation(range, { url, title, text: citation.text, id }) ?? []
  })
  return [...listDistinct(annotations)]
}
