import * as fc from 'fast-check'

/** How a client writes JSON. */
export interface JsonStyle {
  /** Between tokens. */
  readonly space: string
  readonly escapesNonAscii: boolean
  readonly escapesSlashes: boolean
}

export const jsonStyles: fc.Arbitrary<JsonStyle> = fc.record({
  space: fc.constantFrom('', '', ' ', '\n  ', '\r\n\t'),
  escapesNonAscii: fc.boolean(),
  escapesSlashes: fc.boolean(),
})

/** Writes JSON in one of the ways of clients. Members that are undefined are left out. */
export function writeJson(value: unknown, style: JsonStyle): string {
  const { space } = style
  const separator = `,${space}`
  if (typeof value === 'string') return writeText(value, style)
  if (Array.isArray(value)) {
    return `[${space}${value.map((item) => writeJson(item, style)).join(separator)}${space}]`
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => `${JSON.stringify(key)}${space}:${space}${writeJson(member, style)}`)
  return `{${space}${members.join(separator)}${space}}`
}

function writeText(text: string, { escapesNonAscii, escapesSlashes }: JsonStyle): string {
  const json = escapesSlashes ? JSON.stringify(text).replaceAll('/', '\\/') : JSON.stringify(text)
  return escapesNonAscii
    ? json.replace(/[^\0-~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    : json
}
