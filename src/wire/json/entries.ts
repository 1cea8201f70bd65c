import { findValueEnd, readItems, readMembers, skipSpace } from './text.ts'

/*
 * The places of values in a JSON text. The text must be valid JSON; check it with `JSON.parse` first.
 */

/** Where a value stands in a text: from its first character to before the one behind its last. */
export interface ValueRange {
  readonly start: number
  readonly end: number
}

/** Returns the values of the members of the object at `start`; of repeated names the last one, as in `JSON.parse`. */
export function placeMembers(
  json: string,
  start = skipSpace(json, 0),
): ReadonlyMap<string, ValueRange> {
  const places = new Map<string, ValueRange>()
  if (json[start] !== '{') return places
  readMembers(json, start, (at, name) => {
    const end = findValueEnd(json, at)
    places.set(name, { start: at, end })
    return end
  })
  return places
}

/** Returns the items of an array; none for another value. */
export function placeItems(json: string, array: ValueRange | undefined): readonly ValueRange[] {
  const places: ValueRange[] = []
  if (!array || json[array.start] !== '[') return places
  readItems(json, array.start, (at) => {
    const end = findValueEnd(json, at)
    places.push({ start: at, end })
    return end
  })
  return places
}

/** Replaces a part of a text; an empty place is one to insert at. */
export interface TextEdit extends ValueRange {
  readonly text: string
}

/** Makes edits that do not overlap, and keeps all other characters. */
export function editText(json: string, edits: readonly TextEdit[]): string {
  let result = ''
  let from = 0
  for (const { start, end, text } of edits.toSorted((a, b) => a.start - b.start)) {
    result += json.slice(from, start) + text
    from = end
  }
  return result + json.slice(from)
}
