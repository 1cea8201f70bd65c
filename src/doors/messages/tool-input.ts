import { isObject } from '../../wire/json/parse.ts'
import { RawJson } from '../../wire/json/raw.ts'

/**
 * Returns the arguments of a call as its `input`: the exact text of an object, `{}` for none, and for any
 * other text an object with that text, so that it stays visible.
 */
export function toInput(text: string): RawJson {
  return new RawJson(toInputText(text))
}

/** Returns the same as JSON text. */
export function toInputText(text: string): string {
  const trimmed = text.trim()
  if (trimmed === '' || trimmed === 'null') return '{}'
  return isObjectText(trimmed) ? trimmed : JSON.stringify({ raw_input: text })
}

function isObjectText(text: string): boolean {
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}

/** Follows the text of a JSON object that arrives in pieces, to find its end. */
export class ObjectProgress {
  #depth = 0
  #isInString = false
  #isEscaped = false
  /** The object has ended. */
  isComplete = false

  push(piece: string): void {
    for (let at = 0; at < piece.length && !this.isComplete; at++) {
      const character = piece[at]
      if (this.#isEscaped) this.#isEscaped = false
      else if (this.#isInString) {
        if (character === '"') this.#isInString = false
        else if (character === '\\') this.#isEscaped = true
      } else if (character === '"') this.#isInString = true
      else if (character === '{' || character === '[') this.#depth++
      else if (character === '}' || character === ']') this.isComplete = --this.#depth === 0
    }
  }
}
