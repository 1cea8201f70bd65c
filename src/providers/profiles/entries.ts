import { isObject, type JsonObject } from '../../wire/json/parse.ts'

/**
 * Joins the pieces in which a stream sends the entries of `reasoning_details`, or thinking chunks: neighbours of
 * one type and one index. Encrypted data are whole.
 */
export function joinPieces(entries: readonly JsonObject[]): readonly JsonObject[] {
  const joined: JsonObject[] = []
  for (const entry of entries) {
    const last = joined.at(-1)
    const isSame = last && last['type'] === entry['type'] && last['index'] === entry['index']
    const both = isSame ? joinTwo(last, entry) : undefined
    if (both) joined[joined.length - 1] = both
    else joined.push(entry)
  }
  return joined
}

/** Undefined for two entries that are not pieces of one. */
function joinTwo(first: JsonObject, second: JsonObject): JsonObject | undefined {
  if (Array.isArray(first['thinking']) && Array.isArray(second['thinking'])) {
    const thinking = joinTexts([...first['thinking'], ...second['thinking']])
    return { ...first, ...withoutNull(second), thinking }
  }
  const name = typeof first['summary'] === 'string' ? 'summary' : 'text'
  const [before, after] = [first[name] ?? '', second[name] ?? '']
  if (typeof before !== 'string' || typeof after !== 'string') return undefined
  // Encrypted data are whole.
  if (first['data'] !== undefined || second['data'] !== undefined) return undefined
  return { ...first, ...withoutNull(second), [name]: before + after }
}

function joinTexts(parts: readonly unknown[]): readonly unknown[] {
  const isText = parts.every((part) => isObject(part) && typeof part['text'] === 'string')
  if (!isText) return parts
  const text = parts.map((part) => (isObject(part) ? String(part['text']) : '')).join('')
  return [{ type: 'text', text }]
}

function withoutNull(entry: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== null))
}
