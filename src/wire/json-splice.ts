import type { ObjectLayout, Span } from '../core/layout.ts'

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

const decoder = new TextDecoder()
const encoder = new TextEncoder()

/**
 * Finds top-level members of a JSON object without changing or copying a byte.
 * `bytes` must be valid JSON with an object at its top: the caller has parsed it.
 */
export function layoutOf<Name extends string>(
  bytes: Uint8Array,
  names: readonly Name[],
): ObjectLayout<Name> {
  // The loop below fills every name, so the record is complete.
  const spans = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<
    Name,
    Span[]
  >
  let depth = 0
  let deepest = 0
  let close = bytes.length
  let empty = true
  let key: string | undefined
  let valueStart = -1

  const endValue = (end: number) => {
    const wanted = key === undefined ? undefined : spans[key as Name]
    if (wanted) wanted.push(trim(bytes, valueStart, end))
    key = undefined
    valueStart = -1
  }

  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case quote: {
        const end = endOfString(bytes, at)
        if (depth === 1 && valueStart < 0) {
          key = readKey(bytes, at, end)
          empty = false
        }
        at = end
        break
      }
      case colon:
        if (depth === 1 && valueStart < 0) valueStart = at + 1
        break
      case comma:
        if (depth === 1) endValue(at)
        break
      case openBrace:
      case openBracket:
        if (++depth > deepest) deepest = depth
        break
      case closeBrace:
      case closeBracket:
        if (depth === 1) {
          if (valueStart >= 0) endValue(at)
          close = at
        }
        depth--
        break
    }
  }
  return { depth: deepest, spans, close, empty }
}

/** One change to a body: `span` gives way to `json`. */
export interface Splice {
  readonly span: Span
  readonly json: string
}

/** The bytes with each span replaced. Spans must not overlap; everything outside them survives. */
export function splice(bytes: Uint8Array, changes: readonly Splice[]): Uint8Array {
  const ordered = changes
    .map(({ span, json }) => ({ span, patch: encoder.encode(json) }))
    .sort((a, b) => a.span.start - b.span.start)
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

/** Sets a top-level member: replaces every occurrence, or adds it as the last one. */
export function setMember<Name extends string>(
  layout: ObjectLayout<Name>,
  name: Name,
  json: string,
): Splice[] {
  const spans = layout.spans[name]
  if (spans.length > 0) return spans.map((span) => ({ span, json }))
  const member = `${layout.empty ? '' : ','}${JSON.stringify(name)}:${json}`
  return [{ span: { start: layout.close, end: layout.close }, json: member }]
}

/** The index of the quote that ends the string which starts at `start`. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = bytes.indexOf(quote, start + 1); ; at = bytes.indexOf(quote, at + 1)) {
    if (at < 0) return bytes.length
    let escapes = 0
    while (bytes[at - 1 - escapes] === backslash) escapes++
    if (escapes % 2 === 0) return at
  }
}

/** A key may be written with escapes: `"mod\u0065l"` is `model`. */
function readKey(bytes: Uint8Array, start: number, end: number): string {
  const raw = decoder.decode(bytes.subarray(start + 1, end))
  return raw.includes('\\') ? String(JSON.parse(`"${raw}"`)) : raw
}

function trim(bytes: Uint8Array, start: number, end: number): Span {
  let from = start
  let to = end
  while (isSpace(bytes[from])) from++
  while (isSpace(bytes[to - 1])) to--
  return { start: from, end: to }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}
