import { RawJson, stringifyJson } from '../../wire/raw-json.ts'
import type { PartialArg } from './response.ts'

/**
 * The arguments of a call that comes in pieces. Each piece names its place by a JSONPath of members
 * and indexes; a text may come in several.
 * https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling
 */
export class PartialArguments {
  // Without a prototype, so that no member of it has a meaning.
  readonly #root: Container = Object.create(null)

  add(piece: PartialArg): void {
    const steps = parseJsonPath(piece.jsonPath)
    let place = this.#root
    for (const [at, step] of steps.entries()) {
      if (!canHold(place, step)) return
      const next = steps[at + 1]
      if (next === undefined) {
        place[step] = extendValue(place[step], piece)
        return
      }
      place[step] ??= typeof next === 'number' ? [] : Object.create(null)
      const inner = place[step]
      if (typeof inner !== 'object' || inner === null || inner instanceof RawJson) return
      // Made here, as an earlier or as this piece named it.
      place = inner as Container
    }
  }

  get json(): string {
    return stringifyJson(this.#root)
  }
}

/** The value that a piece brings, or brings more of. */
function extendValue(
  former: unknown,
  { stringValue, numberValue, boolValue }: PartialArg,
): unknown {
  const isText = typeof stringValue === 'string' && typeof former === 'string'
  return isText ? former + stringValue : (stringValue ?? numberValue ?? boolValue ?? null)
}

type Step = string | number
type Container = Record<Step, unknown>

/** A list grows by one place at a time: an index from the wire must not make it sparse. */
function canHold(place: Container, step: Step): boolean {
  return !Array.isArray(place) || (typeof step === 'number' && step <= place.length)
}

/** `$.a[0]['b c']` as `a`, 0, `b c`. */
function parseJsonPath(jsonPath: string): Step[] {
  return [...jsonPath.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]/g)].map(
    ([, name, index, quoted]) =>
      index === undefined ? (name ?? quoted?.replace(/\\(.)/g, '$1') ?? '') : Number(index),
  )
}
