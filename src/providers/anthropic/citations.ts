import * as z from 'zod'
import {
  type Annotation,
  countCharacters,
  createAnnotation,
  limitAnnotations,
  listDistinct,
  nameDocument,
  type TextRange,
} from '../canonical/annotations.ts'

const text = z.string().nullish().catch(undefined)
const position = z.int().nonnegative().nullish().catch(undefined)

/** A citation of any type: https://platform.claude.com/docs/en/build-with-claude/citations */
const citation = z.object({
  cited_text: text,
  url: text,
  title: text,
  source: text,
  document_title: text,
  file_id: text,
  document_index: position,
  search_result_index: position,
})

/** Translates the citations of one text block. */
export function toAnnotations(citations: readonly unknown[], range: TextRange): Annotation[] {
  const annotations = citations.flatMap((given) => {
    const { data } = citation.safeParse(given)
    if (!data) return []
    const index = data.document_index ?? data.search_result_index
    const annotation = createAnnotation(range, {
      url: data.url ?? data.source,
      title: data.title ?? data.document_title ?? nameDocument(data.document_index),
      text: data.cited_text,
      id: data.file_id ?? index?.toString(),
    })
    return annotation ?? []
  })
  return [...listDistinct(annotations)]
}

/** Translates the citations of a whole answer. */
export function collectAnnotations(
  blocks: readonly { readonly type: string; readonly text?: string | undefined }[],
): readonly Annotation[] {
  // Most answers cite nothing, and need no count.
  if (!blocks.some(hasCitations)) return []
  let end = 0
  const annotations = blocks.flatMap((block) => {
    const start = end
    if (block.type !== 'text') return []
    end += countCharacters(block.text ?? '')
    return hasCitations(block) ? toAnnotations(block.citations, { start, end }) : []
  })
  return limitAnnotations(annotations)
}

function hasCitations<Block extends object>(
  block: Block,
): block is Block & { readonly citations: readonly unknown[] } {
  return 'citations' in block && Array.isArray(block.citations)
}
