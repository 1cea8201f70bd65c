import type { Chance } from './chance.ts'

const words = [
  'so',
  'Grüße',
  '世界',
  '🦆👩‍👩‍👧',
  'e\u0301',
  '"quoted"',
  'back\\slash',
  '{"a":1}',
  'data: [DONE]',
  'line\nline',
  'cr\r\n',
  '\u2028',
  '<tag>',
  '\t',
  '\u0000',
  '$&',
]

/** Random text with at least one character that is not white space. */
export function text(chance: Chance): string {
  const said = chance.some(1, 6, () => chance.pick(words)).join(' ')
  return said.trim() === '' ? 'ok' : said
}

/** A random signature: base64 without a meaning. */
export function proof(chance: Chance): string {
  return btoa(String.fromCharCode(...chance.some(1, 40, () => chance.below(256))))
}

const numbers = ['0', '-0', '1.0', '1e400', '12345678901234567890', '-1.50', '6.02e23']

/** A random JSON text in spellings that `JSON.stringify` would change. */
function anyValue(chance: Chance, depth: number): string {
  const kind = chance.below(depth > 0 ? 6 : 4)
  if (kind === 0) return chance.pick(numbers)
  if (kind === 1) return chance.pick(['true', 'false', 'null'])
  if (kind === 2) return '"\\u003ca\\/b\\u00e9"'
  if (kind === 3) return JSON.stringify(text(chance))
  if (kind === 4) return `[${chance.some(0, 3, () => anyValue(chance, depth - 1)).join(',')}]`
  return object(chance, depth - 1)
}

const names = ['"id"', '"10"', '"9"', '"a b"', '"\\u0061"', '"__proto__"', '"toJSON"', '"é"']

/** A random JSON object without white space between its tokens. */
export function object(chance: Chance, depth = 2): string {
  const members = chance.some(0, 4, () => `${chance.pick(names)}:${anyValue(chance, depth)}`)
  return `{${members.join(',')}}`
}

/** Replaces each `RawText` in a value by its text, in the JSON of the value. */
export function written(given: unknown, indent?: number): string {
  const texts: string[] = []
  const marked = JSON.stringify(
    given,
    (_, member) => (member instanceof RawText ? `@raw${texts.push(member.json) - 1}@` : member),
    indent,
  )
  return marked.replace(/"@raw(\d+)@"/g, (_, index) => texts[Number(index)] ?? '')
}

/** JSON text that is inserted into a value unchanged. */
export class RawText {
  readonly json: string

  constructor(json: string) {
    this.json = json
  }
}
