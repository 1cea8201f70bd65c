/*
 * A character outside of the basic plane is a pair of surrogates in a string. Half a pair is no character: it has no
 * UTF-8, and strict parsers, such as that of Codex and that of Claude's API, refuse JSON with its escape.
 */

/** Replaces each half in a JSON text, where halves are escapes, by U+FFFD. Escapes of whole pairs stay. */
export function replaceEscapedHalves(json: string): string {
  return json.replace(escapes, (escape, half?: string) => (half === undefined ? escape : '\ufffd'))
}

/** A pair, a half, or any other escape, so that an escaped backslash does not begin one. */
const escapes = /\\u[dD][89aAbB]..\\u[dD][c-fC-F]..|(\\u[dD][89a-fA-F]..)|\\./g

/** Joins the halves of characters in the pieces of texts. */
export class PairJoiner {
  /** The first half of a character that has not ended, by the place of its text. */
  readonly #halves = new Map<string, string>()

  get isEmpty(): boolean {
    return this.#halves.size === 0
  }

  /** Keeps a first half back for the next piece of a place, unless this is the last one of its text. */
  join(place: string, piece: string, isLast = false): string {
    const joined = (this.#halves.get(place) ?? '') + piece
    this.#halves.delete(place)
    if (isLast || !/[\ud800-\udbff]$/.test(joined)) return joined.toWellFormed()
    this.#halves.set(place, joined.slice(-1))
    return joined.slice(0, -1).toWellFormed()
  }

  /** Returns the places with a half that did not become a character. */
  takePlaces(): readonly string[] {
    const places = [...this.#halves.keys()]
    this.#halves.clear()
    return places
  }
}
