/*
 * The fields of a subject in a reply of the server, in their order. Both sides are made of this list: the function
 * that writes the fields on the server, and the reader in `values.ts`.
 */

/**
 * How a field is written: a text without escapes, a whole number, or such a number that may be absent (`false`), each
 * from the field of the state with the same name; `share` and `alert` are what their writer passes.
 */
export type FieldKind = 'text' | 'integer' | 'optional' | 'share' | 'alert'

export const subjectFields = [
  ['period', 'text'],
  ['since', 'integer'],
  ['resets', 'optional'],
  ['spent_usd', 'integer'],
  ['spent_nano', 'integer'],
  ['total_usd', 'integer'],
  ['total_nano', 'integer'],
  ['reserved_usd', 'integer'],
  ['reserved_nano', 'integer'],
  ['running', 'integer'],
  ['rpm', 'integer'],
  ['tpm', 'integer'],
  ['share', 'share'],
  ['alert', 'alert'],
] as const satisfies readonly (readonly [name: string, kind: FieldKind])[]

type Fields = typeof subjectFields

type Places = {
  readonly [Place in keyof Fields &
    `${number}` as Fields[Place][0]]: Place extends `${infer Index extends number}` ? Index : never
}

/** The place of each field. */
export const subjectPlaces = Object.freeze(
  Object.fromEntries(subjectFields.map(([name], place) => [name, place])),
  // `fromEntries` forgets the names and their places.
) as unknown as Places

const writtenKinds = {
  text: { format: '"%s"', value: (name: string) => `state.${name}` },
  integer: { format: '%d', value: (name: string) => `state.${name}` },
  optional: { format: '%s', value: (name: string) => `optional(state.${name})` },
  share: { format: '%s', value: (name: string) => `${name} or 'false'` },
  alert: { format: '%s', value: (name: string) => `${name} and quote(${name}) or 'false'` },
} satisfies Record<FieldKind, { readonly format: string; value(name: string): string }>

/** Returns the text of the Lua function that writes the fields, `write_subject(state, share, alert)`. */
export function generateSubjectWriter(): string {
  const formats = subjectFields.map(([, kind]) => writtenKinds[kind].format)
  const values = subjectFields.map(([name, kind]) => writtenKinds[kind].value(name))
  return `local function write_subject(state, share, alert)
  return string.format(
    '[${formats.join(',')}]',
    ${values.join(',\n    ')}
  )
end
`
}
