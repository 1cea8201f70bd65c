import * as z from 'zod'
import { runAtOnce, type Steps } from '../../core/steps.ts'
import {
  type Annotation,
  type CitedSource,
  createAnnotation,
  listDistinct,
  type TextRange,
} from '../canonical/annotations.ts'
import { AnswerText, type ByteRange } from './answer-text.ts'

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
export function* toAnnotations(
  reports: SourceReports,
  texts: readonly string[],
): Steps<readonly Annotation[]> {
  const sources = new AnswerSources()
  yield* sources.addInSteps(reports)
  return sources.toAnnotations(texts)
}

/**
 * The sources of an answer: those that support a part of its text, those that it recites, and the addresses that
 * it has read. The events of a stream add up; some repeat what earlier ones say.
 * https://ai.google.dev/api/generate-content#v1beta.Candidate
 */
export class AnswerSources {
  readonly #sources = new Map<string, CitedSource>()
  /** By the segment as JSON: a short list of sources may support a long segment. */
  readonly #supported = new Map<string, Supported>()
  readonly #citations = new Map<string, Citation>()
  readonly #addresses = new Set<string>()
  /** The sources of the latest list, to whose indexes later supports refer. */
  #listed: readonly string[] = []

  add(reports: SourceReports): void {
    runAtOnce(this.addInSteps(reports))
  }

  *addInSteps(reports: SourceReports): Steps<void> {
    yield* this.#addGrounding(reports.groundingMetadata)
    yield
    for (const cited of listCitations(reports.citationMetadata)) {
      this.#citations.set(JSON.stringify(cited), cited)
    }
    yield
    for (const address of listAddresses(reports.urlContextMetadata)) this.#addresses.add(address)
    yield
  }

  *#addGrounding(metadata: unknown): Steps<void> {
    const { groundingChunks: chunks, groundingSupports: supports } =
      groundingMetadata.safeParse(metadata).data ?? {}
    yield
    if (chunks && chunks.length > 0) this.#listed = chunks.map((chunk) => this.#addSource(chunk))
    yield
    for (const { segment, groundingChunkIndices: indices } of supports ?? []) {
      const place = JSON.stringify(segment ?? null)
      const supported = this.#supported.get(place) ?? { segment, keys: new Set() }
      for (const index of indices ?? []) {
        const key = this.#listed[index]
        if (key !== undefined) supported.keys.add(key)
      }
      if (supported.keys.size > 0) this.#supported.set(place, supported)
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
    const named = listDistinct(this.#listNamed(new AnswerText(texts)))
    const known = new Set(named.map(({ url_citation: { url } }) => url))
    const read = [...this.#addresses].filter((url) => !known.has(url))
    return listDistinct([
      ...named,
      ...read.flatMap((url) => createAnnotation(nowhere, { url }) ?? []),
    ])
  }

  /** Yields them one after the other, because many may cite one long text. */
  *#listNamed(answer: AnswerText): Generator<Annotation> {
    const unused = new Set(this.#sources.keys())
    for (const { segment, keys } of this.#supported.values()) {
      const range = segment ? locate(segment, answer) : nowhere
      for (const key of keys) {
        unused.delete(key)
        yield* this.#annotate(range, key, segment?.text)
      }
    }
    for (const key of unused) yield* this.#annotate(nowhere, key)
    for (const { uri: url, title, ...offsets } of this.#citations.values()) {
      // The service counts bytes of the whole text.
      const bytes = toByteRange(offsets)
      const range = bytes && answer.findInWhole(bytes)
      const cited = range && answer.read(bytes)
      const annotation = createAnnotation(range ?? nowhere, { url, title, text: cited })
      if (annotation) yield annotation
    }
  }

  *#annotate(range: TextRange, key: string, cited?: string | null): Generator<Annotation> {
    const annotation = createAnnotation(range, { ...this.#sources.get(key), text: cited })
    if (annotation) yield annotation
  }
}

/** A part of the text, and the keys of the sources that support it. */
interface Supported {
  readonly segment: Support['segment']
  readonly keys: Set<string>
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
function locate(segment: Segment, answer: AnswerText): TextRange {
  const cited = segment.text || undefined
  const bytes = toByteRange(segment)
  const found =
    (bytes && answer.findInPart(segment.partIndex ?? 0, bytes, cited)) ??
    (bytes && answer.findInWhole(bytes, segment.text ?? undefined)) ??
    (cited === undefined ? undefined : answer.search(cited))
  return found ?? nowhere
}

function toByteRange({
  startIndex,
  endIndex,
}: Pick<Segment, 'startIndex' | 'endIndex'>): ByteRange | undefined {
  return endIndex === undefined || endIndex === null
    ? undefined
    : { from: startIndex ?? 0, end: endIndex }
}
