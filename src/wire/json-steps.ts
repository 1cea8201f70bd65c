import type { Cut, Span } from '../core/layout.ts'

type JsonArray = unknown[]
type JsonObject = Record<string, unknown>

/**
 * Parses a long JSON text piece by piece, cut where its layout says: each piece by itself, under the
 * containers that are open where it begins. `pause` is awaited between them. Throws what the decoder
 * or `JSON.parse` throws.
 */
export async function parseInSteps(
  bytes: Uint8Array,
  cuts: readonly Cut[],
  pause: () => Promise<void>,
): Promise<unknown> {
  // The key of the member that goes on in the next piece: one that no client can guess.
  const goesOn = crypto.randomUUID()
  let value: unknown
  let last: Cut | undefined
  for (const cut of [...cuts, undefined]) {
    const text = strictUtf8.decode(bytes.subarray(last ? last.at + 1 : 0, cut?.at))
    const piece: unknown = JSON.parse(openingBrackets(last, goesOn) + text + closingBrackets(cut))
    value = last ? mergePiece(value, piece, { bytes, cut: last, goesOn }) : piece
    last = cut
    await pause()
  }
  return value
}

/** Text of a request. A byte order mark is kept, since no JSON text begins with one. */
export const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function openingBrackets(cut: Cut | undefined, goesOn: string): string {
  if (!cut) return ''
  const innermost = cut.open.length - 1
  return cut.open
    .map(({ kind }, level) => {
      if (kind === 'array') return '['
      return level === innermost ? '{' : `{"${goesOn}":`
    })
    .join('')
}

function closingBrackets(cut: Cut | undefined): string {
  if (!cut) return ''
  return cut.open
    .map(({ kind }) => (kind === 'array' ? ']' : '}'))
    .reverse()
    .join('')
}

/** Puts a piece into the containers that were open where it was cut off, and returns the whole. */
function mergePiece(
  whole: unknown,
  piece: unknown,
  { bytes, cut: { open }, goesOn }: { bytes: Uint8Array; cut: Cut; goesOn: string },
): unknown {
  let into = whole
  let from = piece
  for (const [level, container] of open.entries()) {
    const isInnermost = level === open.length - 1
    // What was parsed under a bracket is an array, under a brace an object.
    if (container.kind === 'array') {
      const [items, more] = [into as JsonArray, from as JsonArray]
      into = items.at(-1)
      from = more[0]
      for (let at = isInnermost ? 0 : 1; at < more.length; at++) items.push(more[at])
    } else {
      const [members, more] = [into as JsonObject, from as JsonObject]
      into = isInnermost ? undefined : members[readKey(bytes, container.key)]
      from = more[goesOn]
      for (const key of Object.keys(more)) if (key !== goesOn) setMember(members, key, more[key])
    }
  }
  return whole
}

function readKey(bytes: Uint8Array, { start, end }: Span): string {
  return String(JSON.parse(strictUtf8.decode(bytes.subarray(start, end))))
}

/** Sets a member as `JSON.parse` does: one called `__proto__` is like any other. */
function setMember(members: JsonObject, key: string, value: unknown): void {
  if (key !== '__proto__') members[key] = value
  else
    Object.defineProperty(members, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    })
}
