/*
 * The records that gateways and the functions on the server exchange or keep as lists in JSON: the fields of each, in
 * their order. Both sides are made of these lists: the types and the writers here, and the Lua functions that the
 * loader puts before those that use them. A kept record (`share`, `hold`, `held`) is read by the release before, too.
 */

/**
 * How a field is written: a text without escapes, a whole number, or such a number that may be absent (`false`);
 * `flag` is a boolean, and the others are what their names say below.
 */
export type FieldKind = keyof KindValues

/** An amount: whole dollars, rounded down, and billionths. */
export type WrittenAmount = readonly [usd: number, nano: number]

interface KindValues {
  readonly text: string
  readonly integer: number
  readonly optional: number | false
  readonly flag: boolean
  readonly amount: WrittenAmount
  /** Empty for none. */
  readonly cap: WrittenAmount | readonly []
  readonly share: WrittenShare | false
  /** `exhausted`, or the percentages between which the spend has risen. */
  readonly alert: string | false
  readonly held: readonly WrittenHeld[]
  /** Each a process and the text of its share. */
  readonly shares: readonly (readonly [process: string, share: string])[]
}

type Fields = readonly (readonly [name: string, kind: FieldKind])[]

/** A subject in a reply: fields of its state, the share of the process that asks, and the alert of this call. */
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
] as const satisfies Fields

/** What a process has charged to a subject: to the term that began at `since`, and in total. */
export const shareFields = [
  ['sequence', 'integer'],
  ['since', 'integer'],
  ['usd', 'integer'],
  ['nano', 'integer'],
  ['total_usd', 'integer'],
  ['total_nano', 'integer'],
] as const satisfies Fields

/** The first line of a hold. The second one has the facts of the request, which the server does not read. */
export const holdFields = [
  ['owner', 'text'],
  ['minute', 'integer'],
  ['tokens', 'integer'],
  ['subjects', 'held'],
] as const satisfies Fields

/** A subject of a hold: what is reserved of it, and whether requests and tokens were counted, 1 or 0. */
export const heldFields = [
  ['name', 'text'],
  ['since', 'integer'],
  ['usd', 'integer'],
  ['nano', 'integer'],
  ['requests', 'integer'],
  ['tokens', 'integer'],
] as const satisfies Fields

/** What an admission asks of a subject: the limits, the cap, and the amount to reserve. */
export const askedFields = [
  ['name', 'text'],
  ['rpm', 'optional'],
  ['tpm', 'optional'],
  ['parallel', 'optional'],
  ['cap_usd', 'optional'],
  ['cap_nano', 'integer'],
  ['usd', 'integer'],
  ['nano', 'integer'],
] as const satisfies Fields

/** A subject from the database: its spend apart from the shares, and whether it is past. */
export const seedFields = [
  ['name', 'text'],
  ['period', 'text'],
  ['since', 'integer'],
  ['resets', 'optional'],
  ['spent', 'amount'],
  ['total', 'amount'],
  ['cap', 'cap'],
  ['shares', 'shares'],
  ['past', 'flag'],
] as const satisfies Fields

type WrittenList<Of extends Fields> = {
  readonly [Place in keyof Of]: KindValues[Of[Place][1]]
}

export type WrittenSubject = WrittenList<typeof subjectFields>
export type WrittenShare = WrittenList<typeof shareFields>
export type WrittenHold = WrittenList<typeof holdFields>
export type WrittenHeld = WrittenList<typeof heldFields>
export type WrittenAsked = WrittenList<typeof askedFields>
export type WrittenSeed = WrittenList<typeof seedFields>

/** The values of a record by the names of its fields. */
export type RecordValues<Of extends Fields> = {
  readonly [Field in Of[number] as Field[0]]: KindValues[Field[1]]
}

/** Puts the values of a record into the order of its fields. */
export function writeList<const Of extends Fields>(
  fields: Of,
  values: RecordValues<Of>,
): WrittenList<Of> {
  const byName: Readonly<Record<string, unknown>> = values
  // Each value has the type of its field.
  return fields.map(([name]) => byName[name]) as unknown as WrittenList<Of>
}

type Places<Of extends Fields> = {
  readonly [Place in keyof Of &
    `${number}` as Of[Place][0]]: Place extends `${infer Index extends number}` ? Index : never
}

/** Returns the place of each field, with which a list is read. */
export function findPlaces<const Of extends Fields>(fields: Of): Places<Of> {
  const places = Object.fromEntries(fields.map(([name], place) => [name, place]))
  // `fromEntries` forgets the names and their places.
  return Object.freeze(places) as unknown as Places<Of>
}

/** Returns the text of the Lua functions that read and write the records. */
export function generateRecordFunctions(): string {
  return [
    generateReader('share', shareFields),
    generateReader('hold', holdFields),
    generateReader('held', heldFields),
    generateReader('asked', askedFields),
    generateReader('seed', seedFields),
    generateWriter('held', heldFields, (name) => `held.${name}`),
    generateWriter('hold', holdFields, (name) => `hold.${name}`),
    generateWriter('subject', subjectFields, (name, kind) =>
      kind === 'share' || kind === 'alert' ? name : `subject.${name}`,
    ),
  ].join('\n')
}

/** Writes a function that names the values of a list, `read_NAME(list)`. */
function generateReader(name: string, fields: Fields): string {
  const members = fields.map(([field], place) => `${field} = list[${place + 1}]`)
  return `local function read_${name}(list)
  return { ${members.join(', ')} }
end
`
}

/** How a value is written: its format, and the expression for it. */
const written: Partial<
  Record<FieldKind, readonly [format: string, toText: (value: string) => string]>
> = {
  text: ['"%s"', (value) => value],
  integer: ['%d', (value) => value],
  optional: ['%s', (value) => `optional(${value})`],
  share: ['%s', (value) => `${value} or 'false'`],
  alert: ['%s', (value) => `${value} and quote(${value}) or 'false'`],
  held: ['[%s]', (value) => `write_each(write_held, ${value})`],
}

/** Writes a function that writes a record as JSON, `write_NAME(NAME, share, alert)`. */
function generateWriter(
  name: string,
  fields: Fields,
  find: (field: string, kind: FieldKind) => string,
): string {
  const parts = fields.map(([field, kind]) => {
    const [format, toText] = written[kind] ?? []
    if (format === undefined || toText === undefined) throw new Error(`${kind} cannot be written`)
    return { format, value: toText(find(field, kind)) }
  })
  const more = fields.some(([, kind]) => kind === 'share') ? ', share, alert' : ''
  return `local function write_${name}(${name}${more})
  return string.format(
    '[${parts.map(({ format }) => format).join(',')}]',
    ${parts.map(({ value }) => value).join(',\n    ')}
  )
end
`
}
