/** One source of a stretch of the answer, as the OpenAI API tells of sources. */
export interface Annotation {
  readonly type: 'url_citation'
  readonly url_citation: {
    /** Where the stretch begins and ends in the text of the answer, in characters. */
    readonly start_index: number
    readonly end_index: number
    /** The address of the source; empty where it has none. */
    readonly url: string
    readonly title: string
    /** The cited words, and the vendor's id of the source: no members of the OpenAI API. */
    readonly text: string
    readonly source_id: string
  }
}

/** Annotations with their places in the list: some accumulators of streams join lists by `index`. */
export function addIndexes(annotations: readonly Annotation[], from: number): readonly object[] {
  return annotations.map((annotation, at) => ({ index: from + at, ...annotation }))
}
