import type { EmbedCall } from '../../core/embeddings.ts'

/** The gateway's words for what texts are embedded for. */
type InputType = 'search_document' | 'search_query' | 'classification' | 'clustering'

/** The vendor's words for them; absent where it has none, so that nothing is sent. */
export type InputTypeWords = Readonly<Partial<Record<InputType, string>>>

const known: ReadonlySet<unknown> = new Set<InputType>([
  'search_document',
  'search_query',
  'classification',
  'clustering',
])

/** Returns the vendor's word for an `input_type`. Its own words pass as they are. */
export function toVendorInputType(
  { inputType }: Pick<EmbedCall, 'inputType'>,
  words: InputTypeWords,
): string | undefined {
  if (typeof inputType !== 'string') return undefined
  // The set holds the keys of the words.
  return known.has(inputType) ? words[inputType as InputType] : inputType
}
