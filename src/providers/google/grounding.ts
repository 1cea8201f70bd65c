import * as z from 'zod'
import {
  type Annotation,
  countCharacters,
  createAnnotation,
  listDistinct,
  type TextRange,
} from '../canonical/annotations.ts'

const text = z.string().nullish().catch(undefined)
const offset = z.int().nonnegative().nullish().catch(undefined)
const source = z.object({ uri: text, title: text, documentName: text, placeId: text }).nullish()

const groundingMetadata = z.object({
  groundingChunks: z
    .array(z.object({ web: source, retrievedContext: source, maps: source }))
    .nullish()
    .catch(undefined),
  groundingSupports: z
    .array(
      z.object({
        segment: z
          .object({ partIndex: offset, startIndex: offset, endIndex: offset, text })
          .nullish(),
        groundingChunkIndices: z.array(z.int().nonnegative()).nullish(),
      }),
    )
    .nullish()
    .catch(undefined),
})

const citation = z.object({ startIndex: offset, endIndex: offset, uri: text, title: text })
const citations = z.array(citation).nullish().catch(undefined)

/** The Gemini API names the list `citationSources`, Vertex AI `citations`. */
const citationMetadata = z.object({ citationSources: citations, citations })

const urlContextMetadata = z.object({
  urlMetadata: z.array(z.object({ retrievedUrl: text, urlRetrievalStatus: text })),
})

type Grounding = z.infer<typeof groundingMetadata>
type Chunk = NonNullable<Grounding['groundingChunks']>[number]
type Segment = NonNullable<NonNullable<Grounding['groundingSupports']>[number]['segment']>

/** What a candidate says about its sources. */
export interface SourceReports {
  readonly groundingMetadata?: unknown
  readonly citationMetadata?: unknown
  readonly urlContextMetadata?: unknown
}

/** True for a candidate that says something about its sources: most do not. */
export function hasSources(reports: SourceReports): boolean {
  return Boolean(
    reports.groundingMetadata ?? reports.citationMetadata ?? reports.urlContextMetadata,
  )
}

/**
 * Translates the sources of an answer: those that support a part of its text, those that it recites, and the
 * addresses that it has read. `texts` are its parts, empty where a part is not in the text of the message. A
 * source of no part of the text has an empty range at its start.
 * https://ai.google.dev/api/generate-content#v1beta.Candidate
 */
export function toAnnotations(
  reports: readonly SourceReports[],
  texts: readonly string[],
): readonly Annotation[] {
  const named = reports.flatMap(({ groundingMetadata: grounding, citationMetadata: cited }) => [
    ...listGrounding(grounding, texts),
    ...listCitations(cited, texts.join('')),
  ])
  const known = new Set(named.map(({ url_citation: { url } }) => url))
  const read = reports
    .flatMap(({ urlContextMetadata: context }) => listAddresses(context))
    .filter((url) => !known.has(url))
  return listDistinct([...named, ...read.map((url) => createAnnotation(nowhere, { url }))])
}

function listGrounding(metadata: unknown, texts: readonly string[]): readonly Annotation[] {
  const { data } = groundingMetadata.safeParse(metadata)
  const chunks = data?.groundingChunks ?? []
  if (chunks.length === 0) return []
  const supported = (data?.groundingSupports ?? []).flatMap(
    ({ segment, groundingChunkIndices: indices }) => {
      const range = segment ? locate(segment, texts) : nowhere
      return (indices ?? []).map((index) => ({ index, range, cited: segment?.text }))
    },
  )
  const used = new Set(supported.map(({ index }) => index))
  const unused = chunks.flatMap((_, index) =>
    used.has(index) ? [] : [{ index, range: nowhere, cited: undefined }],
  )
  return [...supported, ...unused].flatMap(({ index, range, cited }) => {
    const chunk = chunks[index]
    return chunk ? createAnnotation(range, { ...toSource(chunk), text: cited }) : []
  })
}

/** The service counts bytes of the whole text. */
function listCitations(metadata: unknown, whole: string): readonly Annotation[] {
  const { data } = citationMetadata.safeParse(metadata)
  return (data?.citationSources ?? data?.citations ?? []).map(({ uri, title, ...segment }) => {
    const { text: cited, ...range } = sliceBytes(whole, segment) ?? { ...nowhere, text: undefined }
    return createAnnotation(range, { url: uri, title, text: cited })
  })
}

/** Lists the addresses that the tool `url_context` could read. */
function listAddresses(metadata: unknown): readonly string[] {
  const { data } = urlContextMetadata.safeParse(metadata)
  return (data?.urlMetadata ?? []).flatMap(({ retrievedUrl: url, urlRetrievalStatus: status }) =>
    url && (!status || status.endsWith('_SUCCESS')) ? url : [],
  )
}

const nowhere: TextRange = { start: 0, end: 0 }

function toSource({ web, retrievedContext: stored, maps }: Chunk) {
  const { uri, title, documentName, placeId } = web ?? stored ?? maps ?? {}
  return { url: uri, title, id: documentName ?? placeId }
}

/** The service counts bytes within a part; in a stream the parts are those of the whole answer. */
function locate(segment: Segment, texts: readonly string[]): TextRange {
  const whole = texts.join('')
  const at = segment.partIndex ?? 0
  const before = countCharacters(texts.slice(0, at).join(''))
  const inPart = sliceBytes(texts[at] ?? '', segment)
  if (inPart && (!segment.text || inPart.text === segment.text)) return shift(inPart, before)
  const inWhole = sliceBytes(whole, segment)
  if (inWhole && inWhole.text === segment.text) return inWhole
  return findText(whole, segment.text ?? '')
}

interface Slice extends TextRange {
  readonly text: string
}

function sliceBytes(
  whole: string,
  { startIndex, endIndex }: Pick<Segment, 'startIndex' | 'endIndex'>,
): Slice | undefined {
  const bytes = encoder.encode(whole)
  const from = startIndex ?? 0
  if (endIndex === undefined || endIndex === null || endIndex > bytes.length || from > endIndex) {
    return undefined
  }
  const start = countCharacters(decoder.decode(bytes.subarray(0, from)))
  const cited = decoder.decode(bytes.subarray(from, endIndex))
  return { start, end: start + countCharacters(cited), text: cited }
}

function shift({ start, end }: TextRange, by: number): TextRange {
  return { start: start + by, end: end + by }
}

function findText(whole: string, cited: string): TextRange {
  const at = cited === '' ? -1 : whole.indexOf(cited)
  if (at < 0) return nowhere
  const start = countCharacters(whole.slice(0, at))
  return { start, end: start + countCharacters(cited) }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
