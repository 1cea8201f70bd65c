import { RawJson, stringifyJson } from '../../wire/json/raw.ts'
import type { PartialArg } from './response.ts'

/**
 * Assembles the arguments of a streamed call. Each piece has a value and its JSONPath of members
 * and indexes; a string may be spread over several pieces.
 * https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling
 */
export class PartialArguments {
  // Without a prototype, so that an argument may be called `__proto__`.
  readonly #root: Container = Object.create(null)

  add(piece: PartialArg): void {
    const steps = parseJsonPath(piece.jsonPath)
    let container = this.#root
    for (const [position, step] of steps.entries()) {
      if (!canHold(container, step)) return
      const next = steps[position + 1]
      if (next === undefined) {
        container[step] = extendValue(container[step], piece)
        return
      }
      container[step] ??= typeof next === 'number' ? [] : Object.create(null)
      const inner = container[step]
      if (typeof inner !== 'object' || inner === null || inner instanceof RawJson) return
      // Safe: only this class creates the objects and lists in it, for this or an earlier piece.
      container = inner as Container
    }
  }

  get json(): string {
    return stringifyJson(this.#root)
  }
}

/** Returns the value of a piece, appended to the former value when both are strings. */
function extendValue(
  former: unknown,
  { stringValue, numberValue, boolValue }: PartialArg,
): unknown {
  const isText = typeof stringValue === 'string' && typeof former === 'string'
  return isText ? former + stringValue : (stringValue ?? numberValue ?? boolValue ?? null)
}

type Step = string | number
type Container = Record<Step, unknown>

/**
 * Whether a container can hold this step. A list grows by one item at a time and is never sparse.
 */
function canHold(container: Container, step: Step): boolean {
  return !Array.isArray(container) || (typeof step === 'number' && step <= container.length)
}

/** Splits `$.a[0]['b c']` into `a`, 0 and `b c`. */
function parseJsonPath(jsonPath: string): Step[] {
  return [...jsonPath.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]/g)].map(
    ([, name, index, quoted]) =>
      index === undefined ? (name ?? quoted?.replace(/\\(.)/g, '$1') ?? '') : Number(index),
  )
}
