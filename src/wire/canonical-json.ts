/** A member of a JSON object. */
export interface CanonicalMember {
  /** The decoded name. */
  readonly name: string
  /** The value as canonical JSON. */
  readonly value: string
}

/**
 * Returns the members of a JSON object, sorted by name, with canonical values: without blanks, with the
 * members of objects sorted, and with every string in its shortest form. Numbers stay as they are written,
 * so that no two of them become equal by rounding. Repeated members all stay, in their order. The text must
 * be a valid JSON object, of a depth that is safe for recursion.
 */
export function readCanonicalMembers(json: string): readonly CanonicalMember[] {
  return new CanonicalReader(json).members()
}

/** Writes members as the text of an object. */
export function writeCanonicalObject(members: readonly CanonicalMember[]): string {
  return `{${members.map(({ name, value }) => `${JSON.stringify(name)}:${value}`).join()}}`
}

class CanonicalReader {
  readonly #json: string
  #at = 0
  #escape = -1

  constructor(json: string) {
    this.#json = json
  }

  members(): CanonicalMember[] {
    const members: CanonicalMember[] = []
    this.#skipBlanks()
    this.#at++
    while (this.#next() !== closeBrace) {
      const text = this.#string()
      // A canonical string is a JSON string.
      const name = JSON.parse(text) as string
      this.#next()
      members.push({ name, value: this.#value() })
    }
    this.#at++
    // The sort is stable, so repeated members stay in their order.
    return members.length > 1 ? members.sort(compareNames) : members
  }

  #value(): string {
    this.#skipBlanks()
    switch (this.#json.charCodeAt(this.#at)) {
      case quote:
        return this.#string()
      case openBrace:
        return writeCanonicalObject(this.members())
      case openBracket:
        return this.#array()
      default:
        return this.#literal()
    }
  }

  #array(): string {
    const items: string[] = []
    this.#at++
    while (this.#next() !== closeBracket) items.push(this.#value())
    this.#at++
    return `[${items.join()}]`
  }

  #string(): string {
    const start = this.#at
    let end = this.#json.indexOf('"', start + 1)
    if (end < this.#findEscape(start)) {
      this.#at = end + 1
      return this.#json.slice(start, this.#at)
    }
    for (end = start + 1; this.#json.charCodeAt(end) !== quote; end++) {
      if (this.#json.charCodeAt(end) === backslash) end++
    }
    this.#at = end + 1
    return JSON.stringify(JSON.parse(this.#json.slice(start, this.#at)))
  }

  /** Returns the position of the next backslash. It is kept, so that the text is searched only once. */
  #findEscape(start: number): number {
    if (this.#escape < start) {
      const found = this.#json.indexOf('\\', start)
      this.#escape = found < 0 ? this.#json.length : found
    }
    return this.#escape
  }

  /** Reads a number, `true`, `false` or `null`. */
  #literal(): string {
    const start = this.#at
    while (!endsLiteral(this.#json.charCodeAt(this.#at))) this.#at++
    return this.#json.slice(start, this.#at)
  }

  /** Skips blanks, commas and colons, and returns the next character. */
  #next(): number {
    for (;;) {
      const code = this.#json.charCodeAt(this.#at)
      if (!isBlank(code) && code !== comma && code !== colon) return code
      this.#at++
    }
  }

  #skipBlanks(): void {
    while (isBlank(this.#json.charCodeAt(this.#at))) this.#at++
  }
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/** Also true at the end of the text. */
function endsLiteral(code: number): boolean {
  return (
    code === comma ||
    code === closeBrace ||
    code === closeBracket ||
    isBlank(code) ||
    Number.isNaN(code)
  )
}

function compareNames(a: CanonicalMember, b: CanonicalMember): number {
  if (a.name === b.name) return 0
  return a.name < b.name ? -1 : 1
}
