import * as z from 'zod'
import {
  type Annotation,
  type CitedSource,
  countCharacters,
  createAnnotation,
  listDistinct,
  type TextRange,
} from '../canonical/annotations.ts'

const text = z.string().nullish().catch(undefined)
const offset = z.int().nonnegative().nullish().catch(undefined)
const source = z
  .object({
    uri: text,
    title: text,
    domain: text,
    documentName: text,
    fileSearchStore: text,
    placeId: text,
  })
  .nullish()
const image = z
  .object({ sourceUri: text, imageUri: text, title: text, domain: text })
  .nullish()
  .catch(undefined)

const groundingMetadata = z.object({
  groundingChunks: z
    .array(z.object({ web: source, retrievedContext: source, maps: source, image }))
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
type Support = NonNullable<Grounding['groundingSupports']>[number]
type Segment = NonNullable<Support['segment']>
type Citation = z.infer<typeof citation>

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

/** Translates what a whole answer says about its sources; `texts` as for `AnswerSources`. */
export function toAnnotations(
  reports: SourceReports,
  texts: readonly string[],
): readonly Annotation[] {
  const sources = new AnswerSources()
  sources.add(reports)
  return sources.toAnnotations(texts)
}

/**
 * The sources of an answer: those that support a part of its text, those that it recites, and the addresses that
 * it has read. The events of a stream add up; some repeat what earlier ones say.
 * https://ai.google.dev/api/generate-content#v1beta.Candidate
 */
export class AnswerSources {
  readonly #sources = new Map<string, CitedSource>()
  readonly #supported = new Map<string, Supported>()
  readonly #citations = new Map<string, Citation>()
  readonly #addresses = new Set<string>()
  /** The sources of the latest list, to whose indexes later supports refer. */
  #listed: readonly string[] = []

  add(reports: SourceReports): void {
    this.#addGrounding(reports.groundingMetadata)
    for (const cited of listCitations(reports.citationMetadata)) {
      this.#citations.set(JSON.stringify(cited), cited)
    }
    for (const address of listAddresses(reports.urlContextMetadata)) this.#addresses.add(address)
  }

  #addGrounding(metadata: unknown): void {
    const { groundingChunks: chunks, groundingSupports: supports } =
      groundingMetadata.safeParse(metadata).data ?? {}
    if (chunks && chunks.length > 0) this.#listed = chunks.map((chunk) => this.#addSource(chunk))
    for (const { segment, groundingChunkIndices: indices } of supports ?? []) {
      for (const index of indices ?? []) {
        const key = this.#listed[index]
        if (key === undefined) continue
        this.#supported.set(JSON.stringify([key, segment]), { key, segment })
      }
    }
  }

  /** Returns the key of the source. */
  #addSource(chunk: Chunk): string {
    const named = toSource(chunk)
    const key = JSON.stringify(named)
    this.#sources.set(key, named)
    return key
  }

  /**
   * Lists the sources with the parts of the text that they are for. `texts` are the parts of the answer, empty
   * where a part is not in the text of the message. A source of no part of the text has an empty range at its
   * start.
   */
  toAnnotations(texts: readonly string[]): readonly Annotation[] {
    const supported = [...this.#supported.values()]
    const used = new Set(supported.map(({ key }) => key))
    const unused = [...this.#sources.keys()].filter((key) => !used.has(key))
    const named = [
      ...supported.map(({ key, segment }) => {
        const range = segment ? locate(segment, texts) : nowhere
        return createAnnotation(range, { ...this.#sources.get(key), text: segment?.text })
      }),
      ...unused.map((key) => createAnnotation(nowhere, { ...this.#sources.get(key) })),
      ...this.#locateCitations(texts.join('')),
    ].filter((annotation) => annotation !== undefined)
    const known = new Set(named.map(({ url_citation: { url } }) => url))
    const read = [...this.#addresses].filter((url) => !known.has(url))
    return listDistinct([
      ...named,
      ...read.flatMap((url) => createAnnotation(nowhere, { url }) ?? []),
    ])
  }

  /** The service counts bytes of the whole text. */
  #locateCitations(whole: string): readonly (Annotation | undefined)[] {
    return [...this.#citations.values()].map(({ uri, title, ...segment }) => {
      const { text: cited, ...range } = sliceBytes(whole, segment) ?? {
        ...nowhere,
        text: undefined,
      }
      return createAnnotation(range, { url: uri, title, text: cited })
    })
  }
}

/** A part of the text, and the key of a source that supports it. */
interface Supported {
  readonly key: string
  readonly segment: Support['segment']
}

function listCitations(metadata: unknown): readonly Citation[] {
  const { data } = citationMetadata.safeParse(metadata)
  return data?.citationSources ?? data?.citations ?? []
}

/** Lists the addresses that the tool `url_context` could read. */
function listAddresses(metadata: unknown): readonly string[] {
  const { data } = urlContextMetadata.safeParse(metadata)
  return (data?.urlMetadata ?? []).flatMap(({ retrievedUrl: url, urlRetrievalStatus: status }) =>
    url && (!status || status.endsWith('_SUCCESS')) ? url : [],
  )
}

const nowhere: TextRange = { start: 0, end: 0 }

/** Files of a search have no address, and some only the name of their store. */
function toSource({ web, retrievedContext: stored, maps, image: found }: Chunk): CitedSource {
  const { uri, title, domain, documentName, fileSearchStore, placeId } = web ?? stored ?? maps ?? {}
  return {
    url: uri ?? found?.sourceUri ?? found?.imageUri,
    title: title ?? found?.title ?? domain ?? found?.domain,
    id: documentName ?? placeId ?? fileSearchStore,
  }
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
