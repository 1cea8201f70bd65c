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
    if (known.includes(name) || isFact(name)) continue
    const reason = reasons.get(name)
    notes.left.push(place + name + (reason === undefined ? '' : `: ${reason}`))
  }
}

/** What a model can do besides vision is known to the gateway, or left to the vendor. */
function isFact(name: string): boolean {
  return name.startsWith('supports_')
}

/** Why some settings matter although they are not converted. */
const reasons: ReadonlyMap<string, string> = new Map([
  ['include', 'its files are not read'],
  ['store_model_in_db', 'models that were added to the database are not in this file'],
  ['access_groups', noListNote()],
  ['team_id', noListNote()],
  ['rpm', 'no limit of a deployment; a 429 of the vendor moves on to the next one'],
  ['tpm', 'no limit of a deployment; a 429 of the vendor moves on to the next one'],
])

function noListNote(): string {
  return 'a key that is created without --models may use this model'
}
