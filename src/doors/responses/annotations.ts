import { isObject, type JsonObject } from '../../wire/json/parse.ts'

/** Converts citations of the chat API to the form of this API, in which their members are not nested. */
export function toAnnotations(annotations: readonly JsonObject[]): readonly object[] {
  return annotations.flatMap(({ url_citation: citation }) => {
    if (!isObject(citation)) return []
    const { start_index = 0, end_index = 0, url = '', title = '' } = citation
    return [{ type: 'url_citation', start_index, end_index, url, title }]
  })
}
