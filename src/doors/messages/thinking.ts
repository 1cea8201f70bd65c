/** Thinking with the vendor's proof, without which the vendor does not take it back. */
export type ProvenBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }

/** Reads a block of thinking; undefined for any other block, and for thinking without proof. */
export function readProven(block: Readonly<Record<string, unknown>>): ProvenBlock | undefined {
  const { type, thinking, signature, data } = block
  if (type === 'redacted_thinking') {
    return typeof data === 'string' && data !== '' ? { type, data } : undefined
  }
  if (type !== 'thinking' || typeof signature !== 'string' || signature === '') return undefined
  return { type, thinking: typeof thinking === 'string' ? thinking : '', signature }
}
