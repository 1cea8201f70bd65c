import type { EmbedCall } from '../../core/embeddings.ts'
import type { EmbedEndpoint } from '../../core/endpoints.ts'
import { invalid } from '../../core/errors.ts'
import type { Model } from '../../core/provider.ts'

/** Short forms of the words that every kind maps to its own. */
const shortForms: ReadonlyMap<unknown, string> = new Map([
  ['query', 'search_query'],
  ['document', 'search_document'],
])

/**
 * Returns the request with the `input_type` that applies at a link: the client's where the link reads it,
 * otherwise that of the model. Throws LM-1001 for a value that no vendor could understand.
 */
export function bindInputType(call: EmbedCall, link: Model): EmbedCall {
  // A route for embeddings has only links with an embed endpoint.
  const { takesInputType } = link.embed as EmbedEndpoint
  if (takesInputType === undefined) return call
  const { mapsInputType } = link.provider
  const isRead = mapsInputType || (takesInputType === 'always' && !call.needsMapping)
  const given = isRead ? call.inputType : undefined
  if (given === undefined) return { ...call, inputType: toLongForm(link.inputType) }
  if (!mapsInputType) return call
  if (typeof given === 'string' && given !== '') return { ...call, inputType: toLongForm(given) }
  throw invalid('input_type: must be a string that is not empty', 'input_type')
}

function toLongForm(inputType: string | undefined): string | undefined {
  return shortForms.get(inputType) ?? inputType
}
