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
 * Finds top-level members of a JSON object without changing or copying a byte. What it says of bytes
 * that are no such thing means nothing, but it says it in linear time and without recursion: so the
 * depth can be judged before anyone parses.
 */
export function layoutOf<Name extends string>(
  bytes: Uint8Array,
  names: readonly Name[],
): ObjectLayout<Name> {
  // Without a prototype: keys such as `constructor` must not find what every object has.
  const spans: Record<Name, Span[]> = Object.create(null)
  for (const name of names) spans[name] = []
  let depth = 0
  let deepest = 0
  let close = bytes.length
  let empty = true
  let key: string | undefined
  let valueStart = -1

  const endValue = (end: number) => {
    const wanted = key === undefined ? undefined : spans[key as Name]
    wanted?.push(trim(bytes, valueStart, end))
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

/** One change to a body: `span` gives way to `json`, as text or as the bytes of it. */
export interface Splice {
  readonly span: Span
  readonly json: string | Uint8Array
}

/**
 * The bytes with each span replaced; the same ones where nothing changes. Spans must not overlap;
 * everything outside them survives.
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

function holds(bytes: Uint8Array, { start, end }: Span, patch: Uint8Array): boolean {
  return end - start === patch.length && patch.every((byte, at) => byte === bytes[start + at])
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

/**
 * The index of the quote that ends the string which starts at `start`. A native search finds it in
 * strings without escapes, as base64 images are; past the first escape a plain loop is quicker.
 */
function endOfString(bytes: Uint8Array, start: number): number {
  const first = bytes.indexOf(quote, start + 1)
  if (first < 0 || bytes[first - 1] !== backslash) return first < 0 ? bytes.length : first
  let at = start + 1
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at
}

/** A key may be written with escapes: `"mod\u0065l"` is `model`. */
function readKey(bytes: Uint8Array, start: number, end: number): string {
  const raw = decoder.decode(bytes.subarray(start + 1, end))
  return raw.includes('\\') ? unescaped(raw) : raw
}

function unescaped(raw: string): string {
  try {
    return String(JSON.parse(`"${raw}"`))
  } catch {
    return raw
  }
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
