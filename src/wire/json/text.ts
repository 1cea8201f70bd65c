import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  isSpace,
  openBrace,
  openBracket,
  quote,
} from './codes.ts'
import { tryParseJson } from './parse.ts'

/*
 * Extracts the exact text of values from a JSON text. Parsing and serializing a value would change large
 * numbers, `1.0` and repeated keys.
 */

/**
 * Returns the texts of all values that match a dotted path, keyed by their full paths. `*` matches each
 * item of an array: `content.*.input` finds `content.0.input`. The last of repeated keys wins, as in
 * `JSON.parse`. The text must be valid JSON; check it with `JSON.parse` first.
 */
export function extractTexts(json: string, pattern: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  findTexts(json, pattern, (path, text) => texts.set(path.join('.'), text))
  return texts
}

/**
 * Does the same for a path with one `*`, and returns the texts by the indexes of the items: for many of them,
 * writing the paths takes longer than reading the text.
 */
export function extractItems(json: string, pattern: string): ReadonlyMap<number, string> {
  const star = pattern.split('.').indexOf('*')
  const texts = new Map<number, string>()
  // Only an index matches the star.
  findTexts(json, pattern, (path, text) => texts.set(path[star] as number, text))
  return texts
}

/** The keys of members and the indexes of items that lead to a value. It changes with the next value. */
type Path = readonly (string | number)[]

function findTexts(json: string, pattern: string, found: (path: Path, text: string) => void): void {
  const steps = pattern.split('.')
  const path: (string | number)[] = []

  /** Reads the value at `start` and returns its end. */
  const read = (start: number, depth: number): number => {
    const step = steps[depth]
    if (step === undefined) {
      const end = findValueEnd(json, start)
      found(path, json.slice(start, end))
      return end
    }
    const first = json.charCodeAt(start)
    if (first === openBracket && step === '*') {
      return readItems(json, start, (at, index) => {
        path[depth] = index
        return read(at, depth + 1)
      })
    }
    if (first !== openBrace) return findValueEnd(json, start)
    return readMembers(json, start, (at, key) => {
      if (key !== step) return findValueEnd(json, at)
      path[depth] = key
      return read(at, depth + 1)
    })
  }

  read(skipSpace(json, 0), 0)
}

/** Returns the texts of the members of an object, by their names. The text must be a valid JSON object. */
export function extractMembers(json: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  readMembers(json, skipSpace(json, 0), (at, key) => {
    const end = findValueEnd(json, at)
    texts.set(key, json.slice(at, end))
    return end
  })
  return texts
}

/** Yields the texts of the items of an array. The text must be a valid JSON array. */
export function* listItems(json: string): Generator<string> {
  let at = skipSpace(json, skipSpace(json, 0) + 1)
  while (at < json.length && json.charCodeAt(at) !== closeBracket) {
    const end = findValueEnd(json, at)
    yield json.slice(at, end)
    at = skipSeparator(json, end)
  }
}

/** Removes the white space between the tokens of a JSON text. */
export function minifyJson(json: string): string {
  let compact = ''
  let from = 0
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === quote) at = findStringEnd(json, at) - 1
    if (!isSpace(code)) continue
    compact += json.slice(from, at)
    from = skipSpace(json, at)
    at = from - 1
  }
  return from === 0 ? json : compact + json.slice(from)
}

/** Reads the items of an array. `read` gets the start of a value and returns its end. */
export function readItems(
  json: string,
  start: number,
  read: (at: number, index: number) => number,
): number {
  let at = skipSpace(json, start + 1)
  for (let index = 0; at < json.length && json.charCodeAt(at) !== closeBracket; index++) {
    at = skipSeparator(json, read(at, index))
  }
  return at + 1
}

/** Reads the members of an object. `read` gets the starts of a value and of its key, and returns the end. */
export function readMembers(
  json: string,
  start: number,
  read: (at: number, key: string, keyAt: number) => number,
): number {
  let at = skipSpace(json, start + 1)
  while (at < json.length && json.charCodeAt(at) !== closeBrace) {
    const end = findStringEnd(json, at)
    const key = json.slice(at, end)
    const value = skipSeparator(json, end)
    at = skipSeparator(json, read(value, parseKey(key), at))
  }
  return at + 1
}

/** Parses a key, which may contain escapes. */
function parseKey(literal: string): string {
  return literal.includes('\\') ? String(tryParseJson(literal)) : literal.slice(1, -1)
}

/** Returns the end of the value at `start`. */
export function findValueEnd(json: string, start: number): number {
  switch (json.charCodeAt(start)) {
    case quote:
      return findStringEnd(json, start)
    case openBrace:
    case openBracket:
      return findContainerEnd(json, start)
    default:
      return findScalarEnd(json, start)
  }
}

/** Returns the index after the quote that closes the string at `start`. */
export function findStringEnd(json: string, start: number): number {
  for (let at = start + 1; ; at++) {
    at = json.indexOf('"', at)
    if (at < 0) return json.length
    let escapes = 0
    while (json.charCodeAt(at - 1 - escapes) === backslash) escapes++
    if (escapes % 2 === 0) return at + 1
  }
}

function findContainerEnd(json: string, start: number): number {
  let depth = 0
  for (let at = start; at < json.length; at++) {
    switch (json.charCodeAt(at)) {
      case quote:
        at = findStringEnd(json, at) - 1
        break
      case openBrace:
      case openBracket:
        depth++
        break
      case closeBrace:
      case closeBracket:
        if (--depth === 0) return at + 1
        break
    }
  }
  return json.length
}

/** Finds the end of a number, `true`, `false` or `null`: at least one character, so that scans advance. */
export function findScalarEnd(json: string, start: number): number {
  let at = start + 1
  while (at < json.length && !endsScalar(json.charCodeAt(at))) at++
  return at
}

function endsScalar(code: number): boolean {
  return code === comma || code === closeBrace || code === closeBracket || isSpace(code)
}

/** Skips white space, a comma or colon if there is one, and the white space after it. */
function skipSeparator(json: string, start: number): number {
  const at = skipSpace(json, start)
  const separator = json.charCodeAt(at)
  return separator === comma || separator === colon ? skipSpace(json, at + 1) : at
}

/** Returns the index of the next character that is not white space. */
export function skipSpace(json: string, start: number): number {
  let at = start
  while (isSpace(json.charCodeAt(at))) at++
  return at
}
