import type { TimeSlice } from '../time-slice.ts'

/** A member of a JSON object. Both texts are canonical JSON; the name has its quotes. */
export interface CanonicalMember {
  readonly name: string
  readonly value: string
}

/** A longer text is read in steps. */
const maxAtOnce = 64 * 1024

/**
 * Returns the members of a JSON object, sorted by name, with canonical values: without blanks, with the
 * members of objects sorted, and with every string in one notation. Numbers stay as they are written, so
 * that no two of them become equal by rounding. Repeated members all stay, in their order. The text must be
 * a valid JSON object, of a depth that is safe for recursion.
 */
export function readCanonicalMembers(
  json: string,
  slice: TimeSlice,
): readonly CanonicalMember[] | Promise<readonly CanonicalMember[]> {
  const reader = new CanonicalReader(json)
  return json.length > maxAtOnce ? reader.membersInSteps(slice) : reader.members()
}

/** Writes members as the text of an object. */
export function writeCanonicalObject(members: readonly CanonicalMember[]): string {
  let text = '{'
  for (const { name, value } of members) text += `${text.length > 1 ? ',' : ''}${name}:${value}`
  return `${text}}`
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
    this.#enter()
    while (this.#next() !== closeBrace) {
      const name = this.#name()
      members.push({ name, value: this.#value() })
    }
    this.#at++
    return sortMembers(members)
  }

  /** Reads the outermost object, and yields to other work between its members and their items. */
  async membersInSteps(slice: TimeSlice): Promise<CanonicalMember[]> {
    const members: CanonicalMember[] = []
    this.#enter()
    while (this.#next() !== closeBrace) {
      const name = this.#name()
      const isArray = this.#next() === openBracket
      members.push({ name, value: isArray ? await this.#arrayInSteps(slice) : this.#value() })
      await slice.pause()
    }
    return sortMembers(members)
  }

  async #arrayInSteps(slice: TimeSlice): Promise<string> {
    let text = '['
    let pauseAt = this.#at + maxAtOnce
    this.#at++
    while (this.#next() !== closeBracket) {
      text += `${text.length > 1 ? ',' : ''}${this.#value()}`
      if (this.#at < pauseAt) continue
      pauseAt = this.#at + maxAtOnce
      await slice.pause()
    }
    this.#at++
    return `${text}]`
  }

  #enter(): void {
    this.#skipBlanks()
    this.#at++
  }

  #name(): string {
    const name = this.#string()
    this.#next()
    return name
  }

  #value(): string {
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
    let text = '['
    this.#at++
    while (this.#next() !== closeBracket) text += `${text.length > 1 ? ',' : ''}${this.#value()}`
    this.#at++
    return `${text}]`
  }

  #string(): string {
    const start = this.#at
    const end = this.#findStringEnd(start)
    this.#at = end + 1
    const text = this.#json.slice(start, this.#at)
    if (this.#findEscape(start) > end || !hasOtherNotation.test(text)) return text
    return JSON.stringify(JSON.parse(text))
  }

  #findStringEnd(start: number): number {
    let end = this.#json.indexOf('"', start + 1)
    while (this.#json.charCodeAt(end - 1) === backslash && this.#isEscaped(end)) {
      end = this.#json.indexOf('"', end + 1)
    }
    return end
  }

  /** True after an odd number of backslashes. */
  #isEscaped(at: number): boolean {
    let before = at
    while (this.#json.charCodeAt(before - 1) === backslash) before--
    return (at - before) % 2 === 1
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

/** Finds what `JSON.stringify` would write in another way. It may find too much, never too little. */
const hasOtherNotation = /\\[u/]/

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

/** The sort is stable, so repeated members stay in their order. */
function sortMembers(members: CanonicalMember[]): CanonicalMember[] {
  return members.length > 1 ? members.sort(compareNames) : members
}

function compareNames(a: CanonicalMember, b: CanonicalMember): number {
  if (a.name === b.name) return 0
  return a.name < b.name ? -1 : 1
}
