import { openBrace } from './codes.ts'
import { scanLayout } from './scan.ts'
import { type Splice, setMember, splice } from './splice.ts'

export interface MergeOptions {
  /** The members to write, in place of those that are in `replaced`, and where the object has none. */
  readonly members: Readonly<Record<string, unknown>>
  /** The names of members that are written although the object has them. */
  readonly replaced: readonly string[]
}

/**
 * Writes members into the object at a top-level member of a JSON object, and keeps all other bytes of both. A
 * member that is missing, or not an object, becomes the written members.
 */
export function mergeIntoMember<Name extends string>(
  bytes: Uint8Array,
  name: Name,
  options: MergeOptions,
): Uint8Array {
  const layout = scanLayout(bytes, [name])
  const spans = layout.spans[name]
  const span = spans.at(-1)
  if (!span || bytes[span.start] !== openBrace) {
    return splice(bytes, setMember(layout, name, JSON.stringify(options.members)))
  }
  // Most parsers take the last of equal members, some the first: all become the last one.
  const json = mergeMembers(bytes.subarray(span.start, span.end), options)
  return splice(
    bytes,
    spans.map((each) => ({ span: each, json })),
  )
}

function mergeMembers(object: Uint8Array, { members, replaced }: MergeOptions): Uint8Array {
  const layout = scanLayout(object, Object.keys(members))
  const changes: Splice[] = []
  const added: string[] = []
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue
    const spans = layout.spans[name] ?? []
    const json = JSON.stringify(value)
    if (spans.length === 0) added.push(`${JSON.stringify(name)}:${json}`)
    else if (replaced.includes(name)) for (const span of spans) changes.push({ span, json })
  }
  if (added.length > 0) {
    const json = `${layout.isEmpty ? '' : ','}${added.join(',')}`
    changes.push({ span: { start: layout.close, end: layout.close }, json })
  }
  return splice(object, changes)
}
