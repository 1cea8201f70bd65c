import type { ByteSpan, Cut } from '../../core/layout.ts'
import { defineMember } from './define-member.ts'

type JsonArray = unknown[]
type JsonObject = Record<string, unknown>

export interface StepOptions {
  readonly pause: () => Promise<void>
  /** Decodes the pieces; strictly by default. */
  readonly decoder?: TextDecoder
}

/**
 * Parses a long JSON text in pieces, split at the cuts of its layout. Each piece is parsed inside copies
 * of the containers that are open at its start, then merged. Awaits `pause` between pieces. Rejects with
 * the errors of the decoder and `JSON.parse`.
 */
export async function parseInSteps(
  bytes: Uint8Array,
  cuts: readonly Cut[],
  { pause, decoder = strictUtf8 }: StepOptions,
): Promise<unknown> {
  // The key of the member that continues in the next piece; clients cannot guess it.
  const goesOn = crypto.randomUUID()
  let value: unknown
  let last: Cut | undefined
  for (const cut of [...cuts, undefined]) {
    const text = decoder.decode(bytes.subarray(last ? last.at + 1 : 0, cut?.at))
    const piece: unknown = JSON.parse(openingBrackets(last, goesOn) + text + closingBrackets(cut))
    value = last ? mergePiece(value, piece, { bytes, cut: last, goesOn, decoder }) : piece
    last = cut
    await pause()
  }
  return value
}

/** The decoder of requests. It keeps a byte order mark, which is then invalid JSON. */
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

interface PiecePlace {
  readonly bytes: Uint8Array
  readonly cut: Cut
  readonly goesOn: string
  readonly decoder: TextDecoder
}

/** Merges a piece into the containers that were open at the cut, and returns the whole. */
function mergePiece(
  whole: unknown,
  piece: unknown,
  { bytes, cut: { open }, goesOn, decoder }: PiecePlace,
): unknown {
  let into = whole
  let from = piece
  for (const [level, container] of open.entries()) {
    const isInnermost = level === open.length - 1
    // A piece parsed inside a bracket is an array, inside a brace an object.
    if (container.kind === 'array') {
      const [items, more] = [into as JsonArray, from as JsonArray]
      into = items.at(-1)
      from = more[0]
      for (let at = isInnermost ? 0 : 1; at < more.length; at++) items.push(more[at])
    } else {
      const [members, more] = [into as JsonObject, from as JsonObject]
      into = isInnermost ? undefined : members[readKey(decoder, bytes, container.key)]
      from = more[goesOn]
      for (const key of Object.keys(more)) if (key !== goesOn) defineMember(members, key, more[key])
    }
  }
  return whole
}

function readKey(decoder: TextDecoder, bytes: Uint8Array, { start, end }: ByteSpan): string {
  return String(JSON.parse(decoder.decode(bytes.subarray(start, end))))
}
