import { isObject, tryParseJson } from '../../wire/json/parse.ts'

/**
 * Decodes the arguments of a function that stands in for a custom tool: the JSON object `{"input": "…"}`
 * becomes the text in it, piece by piece. Other JSON is read when it has ended, because models also write a
 * text alone or under another name. Arguments of another form are returned as they are.
 */
export class CustomInput {
  #state: 'before' | 'inside' | 'after' | 'other' | 'raw' = 'before'
  /** Text that has not been decoded yet. */
  #held = ''

  /** Returns the input that the next piece of the arguments adds. */
  push(piece: string): string {
    this.#held += piece
    if (this.#state === 'before') this.#readStart()
    switch (this.#state) {
      case 'before':
      case 'other':
        return ''
      case 'inside':
        return this.#decode()
      case 'after':
        this.#held = ''
        return ''
      case 'raw':
        return this.#takeHeld()
      default:
        return this.#state satisfies never
    }
  }

  /** Returns the input that is left when the arguments have ended. */
  end(): string {
    const held = this.#takeHeld()
    return this.#state === 'other' ? (findText(held) ?? held) : held
  }

  /** The start is the beginning of an object whose first member is a string named `input`. */
  #readStart(): void {
    const whole = start.exec(this.#held)
    if (whole) {
      this.#state = 'inside'
      this.#held = this.#held.slice(whole[0].length)
    } else if (!beginsStart(this.#held)) {
      this.#state = /^\s*[{"]/.test(this.#held) ? 'other' : 'raw'
    }
  }

  #decode(): string {
    let decoded = ''
    let at = 0
    while (at < this.#held.length) {
      const unit = readUnit(this.#held, at)
      if (unit === undefined) break
      at += unit.length
      if (unit.isEnd) {
        this.#state = 'after'
        this.#held = ''
        return decoded
      }
      decoded += unit.text
    }
    this.#held = this.#held.slice(at)
    return decoded
  }

  #takeHeld(): string {
    const held = this.#held
    this.#held = ''
    return held
  }
}

/** Returns the text that JSON of another form has: a string, a later `input`, or the only member. */
function findText(json: string): string | undefined {
  const value = tryParseJson(json)
  if (typeof value === 'string') return value
  if (!isObject(value)) return undefined
  if (typeof value['input'] === 'string') return value['input']
  const [only, ...others] = Object.values(value)
  return typeof only === 'string' && others.length === 0 ? only : undefined
}

const start = /^\s*\{\s*"input"\s*:\s*"/
/** The tokens of the start; white space may be between them. */
const startTokens = ['{', '"input"', ':', '"']

/** True for a text that may become the start. */
function beginsStart(text: string): boolean {
  let rest = text.trimStart()
  for (const token of startTokens) {
    if (rest.length < token.length) return token.startsWith(rest)
    if (!rest.startsWith(token)) return false
    rest = rest.slice(token.length).trimStart()
  }
  return true
}

interface Unit {
  readonly text: string
  /** In characters of the JSON text. */
  readonly length: number
  readonly isEnd?: boolean
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['b', '\b'],
  ['f', '\f'],
])

/** Reads one character of a JSON string, or the run up to the next escape; undefined when it is cut off. */
function readUnit(json: string, at: number): Unit | undefined {
  const first = json[at]
  if (first === '"') return { text: '', length: 1, isEnd: true }
  if (first !== '\\') {
    const end = json.slice(at).search(/["\\]/)
    const text = end < 0 ? json.slice(at) : json.slice(at, at + end)
    return { text, length: text.length }
  }
  const name = json[at + 1]
  if (name === undefined) return undefined
  if (name !== 'u') return { text: escapes.get(name) ?? name, length: 2 }
  return readUnicode(json, at)
}

const unicodeLength = '\\uXXXX'.length

/** Reads an escaped UTF-16 unit. The two halves of a surrogate pair are read together. */
function readUnicode(json: string, at: number): Unit | undefined {
  const code = readCode(json, at)
  if (code === undefined) return json.length < at + unicodeLength ? undefined : literalEscape
  if (code < 0xd800 || code > 0xdbff) return { text: String.fromCharCode(code), length: 6 }
  const next = json.slice(at + unicodeLength, at + 2 * unicodeLength)
  // The second half may still come.
  if (next.length < unicodeLength && '\\u'.startsWith(next.slice(0, 2))) return undefined
  const low = readCode(json, at + unicodeLength)
  if (low === undefined || low < 0xdc00 || low > 0xdfff) {
    return { text: String.fromCharCode(code), length: unicodeLength }
  }
  return { text: String.fromCharCode(code, low), length: 2 * unicodeLength }
}

/** An escape that JSON does not have is kept as it is. */
const literalEscape: Unit = Object.freeze({ text: '\\u', length: 2 })

function readCode(json: string, at: number): number | undefined {
  const [, digits] = /^\\u([0-9a-fA-F]{4})$/.exec(json.slice(at, at + unicodeLength)) ?? []
  return digits === undefined ? undefined : Number.parseInt(digits, 16)
}
