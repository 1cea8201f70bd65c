/** What the conversion says beside its result, one line each. */
export interface Notes {
  /** What of the other file is not in the result. */
  readonly left: string[]
  /** What the operator must do, or know. */
  readonly next: string[]
}

interface Unknown {
  readonly known: readonly string[]
  /** What precedes the name in the note. */
  readonly place: string
  readonly notes: Notes
}

/** Notes each setting of a table that is not converted. */
export function noteUnknown(
  table: object | null | undefined,
  { known, place, notes }: Unknown,
): void {
  for (const name of Object.keys(table ?? {})) {
    if (!known.includes(name)) notes.left.push(place + name)
  }
}
