import type { TimeSlice } from '../time-slice.ts'
import {
  closeBrace,
  closeBracket,
  colon,
  comma,
  isSpace,
  openBrace,
  openBracket,
  quote,
} from './codes.ts'
import { findScalarEnd, findStringEnd, skipSpace } from './text.ts'

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
    this.#at = skipSpace(this.#json, this.#at) + 1
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
    this.#at = findStringEnd(this.#json, start)
    const text = this.#json.slice(start, this.#at)
    if (this.#findEscape(start) >= this.#at || !hasOtherNotation.test(text)) return text
    return JSON.stringify(JSON.parse(text))
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
    this.#at = findScalarEnd(this.#json, start)
    return this.#json.slice(start, this.#at)
  }

  /** Skips blanks, commas and colons, and returns the next character. */
  #next(): number {
    for (;;) {
      const code = this.#json.charCodeAt(this.#at)
      if (!isSpace(code) && code !== comma && code !== colon) return code
      this.#at++
    }
  }
}

/** Finds what `JSON.stringify` would write in another way. It may find too much, never too little. */
const hasOtherNotation = /\\[u/]/

/** The sort is stable, so repeated members stay in their order. */
function sortMembers(members: CanonicalMember[]): CanonicalMember[] {
  return members.length > 1 ? members.sort(compareNames) : members
}

function compareNames(a: CanonicalMember, b: CanonicalMember): number {
  if (a.name === b.name) return 0
  return a.name < b.name ? -1 : 1
}
