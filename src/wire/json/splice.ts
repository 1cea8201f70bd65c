import type { ByteSpan, MemberLayout } from '../../core/layout.ts'

const encoder = new TextEncoder()

/** One change to a body: replaces `span` by `json`, given as text or bytes. */
export interface Splice {
  readonly span: ByteSpan
  readonly json: string | Uint8Array
}

/**
 * Replaces each span and keeps all other bytes. Returns the same array if nothing changes. Spans must not
 * overlap.
 */
export function splice(bytes: Uint8Array, changes: readonly Splice[]): Uint8Array {
  const patches = changes.map(({ span, json }) => ({
    span,
    patch: typeof json === 'string' ? encoder.encode(json) : json,
  }))
  if (patches.every(({ span, patch }) => holds(bytes, span, patch))) return bytes
  const ordered = patches.sort((a, b) => a.span.start - b.span.start)
  const growth = ordered.reduce(
    (sum, { span, patch }) => sum + patch.length - (span.end - span.start),
    0,
  )
  const result = new Uint8Array(bytes.length + growth)
  let from = 0
  let to = 0
  for (const { span, patch } of ordered) {
    result.set(bytes.subarray(from, span.start), to)
    to += span.start - from
    result.set(patch, to)
    to += patch.length
    from = span.end
  }
  result.set(bytes.subarray(from), to)
  return result
}

function holds(bytes: Uint8Array, { start, end }: ByteSpan, patch: Uint8Array): boolean {
  return end - start === patch.length && patch.every((byte, at) => byte === bytes[start + at])
}

/** Returns the splices that replace each of these spans by the same JSON. */
export function replaceEach(spans: readonly ByteSpan[], json: string | Uint8Array): Splice[] {
  return spans.map((span) => ({ span, json }))
}

/** Returns the splices that set a top-level member: replace every occurrence, or append the member. */
export function setMember<Name extends string>(
  layout: MemberLayout<Name>,
  name: Name,
  json: string,
): Splice[] {
  const spans = layout.spans[name]
  if (spans.length > 0) return replaceEach(spans, json)
  const member = `${layout.isEmpty ? '' : ','}${JSON.stringify(name)}:${json}`
  return [{ span: { start: layout.close, end: layout.close }, json: member }]
}
