import * as z from 'zod'
import {
  type Annotation,
  createAnnotation,
  listDistinct,
  nameDocument,
  type TextRange,
} from '../canonical/annotations.ts'

const text = z.string().nullish().catch(undefined)

const place = z
  .object({ documentIndex: z.int().nonnegative().nullish().catch(undefined) })
  .nullish()
  .catch(undefined)

/** A citation: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Citation.html */
const citation = z.object({
  title: text,
  source: text,
  sourceContent: z.array(z.object({ text })).nullish().catch(undefined),
  location: z
    .object({
      web: z.object({ url: text, domain: text }).nullish(),
      documentChar: place,
      documentPage: place,
      documentChunk: place,
    })
    .nullish()
    .catch(undefined),
})

type Location = z.infer<typeof citation>['location']

/** Translates the citations of one block. */
export function toAnnotations(
  citations: readonly unknown[],
  range: TextRange,
): readonly Annotation[] {
  const annotations = citations.flatMap((given) => {
    const { data } = citation.safeParse(given)
    if (!data) return []
    const { title, source, sourceContent, location } = data
    const annotation = createAnnotation(range, {
      url: location?.web?.url,
      title: title ?? location?.web?.domain ?? source ?? nameDocument(findIndex(location)),
      text: sourceContent?.map((part) => part.text ?? '').join(''),
      id: source,
    })
    return annotation ?? []
  })
  return listDistinct(annotations)
}

function findIndex(location: Location): number | null | undefined {
  const { documentChar, documentPage, documentChunk } = location ?? {}
  return (documentChar ?? documentPage ?? documentChunk)?.documentIndex
}
