/** A citation of one source for a part of the answer, in the form of the OpenAI API. */
export interface Annotation {
  readonly type: 'url_citation'
  readonly url_citation: {
    /** The start and the end of the cited part in the text of the answer, in characters. */
    readonly start_index: number
    readonly end_index: number
    /** The address of the source; empty when it has none. Then it has a title. */
    readonly url: string
    readonly title: string
    /** The cited text and the vendor's id of the source; not part of the OpenAI API. */
    readonly text: string
    readonly source_id: string
  }
}

/** A part of an answer's text, in characters. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

/** What a vendor says about a source. */
export interface CitedSource {
  readonly url?: string | null | undefined
  readonly title?: string | null | undefined
  readonly text?: string | null | undefined
  readonly id?: string | null | undefined
}

/**
 * Returns the annotation for one source of a part of the text. A source without an address and a title has its id
 * as title. Undefined for one that has none of the three: a client could not show it.
 */
export function createAnnotation(
  { start, end }: TextRange,
  { url, title, text, id }: CitedSource,
): Annotation | undefined {
  const shown = title || (url ? '' : id)
  if (!url && !shown) return undefined
  return {
    type: 'url_citation',
    url_citation: {
      start_index: start,
      end_index: end,
      url: url ?? '',
      title: shown ?? '',
      text: text ?? '',
      source_id: id ?? '',
    },
  }
}

/** Returns a title for a document that the vendor names only by its index in the request. */
export function nameDocument(index: number | null | undefined): string | undefined {
  return typeof index === 'number' ? `document ${index + 1}` : undefined
}

/** What the annotations of an answer may hold, in characters: an answer may cite one long text many times. */
const maxAnnotationsLength = 4 * 1024 * 1024

/** How many there may be: some APIs repeat all of them three times. */
const maxAnnotations = 10_000

/**
 * Leaves out what names the same source for the same part of the text again. Reads no further than the
 * annotations of an answer may be long, or many.
 */
export function listDistinct(annotations: Iterable<Annotation>): readonly Annotation[] {
  const bySource = new Map<string, Annotation>()
  let length = 0
  for (const annotation of annotations) {
    const key = identify(annotation)
    length += key.length + annotation.url_citation.text.length
    if (length > maxAnnotationsLength || bySource.size === maxAnnotations) break
    if (!bySource.has(key)) bySource.set(key, annotation)
  }
  return [...bySource.values()]
}

/** Leaves out annotations of several parts of an answer that are too many together. */
export function limitAnnotations(annotations: readonly Annotation[]): readonly Annotation[] {
  return annotations.length > maxAnnotations ? annotations.slice(0, maxAnnotations) : annotations
}

/** The same text for what names the same source for the same part. JSON takes four times as long to write. */
function identify({ url_citation: cited }: Annotation): string {
  const { start_index: start, end_index: end, url, title, source_id: id } = cited
  return `${start} ${end} ${url.length} ${title.length} ${url}${title}${id}`
}

/** Adds each annotation's index in the list, because some stream accumulators merge lists by `index`. */
export function addIndexes(annotations: readonly Annotation[], from: number): readonly object[] {
  return annotations.map((annotation, at) => ({ index: from + at, ...annotation }))
}

/** The annotations of a streamed answer, which come in several lists: the indexes run through all of them. */
export class IndexedAnnotations {
  #count = 0

  /** Adds the next list, and returns it with its indexes, without those that are too many. */
  add(annotations: readonly Annotation[]): readonly object[] {
    const from = this.#count
    const added = annotations.slice(0, maxAnnotations - from)
    this.#count += added.length
    return addIndexes(added, from)
  }
}

/** Counts the characters of a text; both halves of a surrogate pair are one. */
export function countCharacters(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; at++) {
    if ((text.charCodeAt(at) & 0xfc00) !== lowSurrogate) count++
  }
  return count
}

const lowSurrogate = 0xdc00
