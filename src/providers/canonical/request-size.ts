import type { CallArguments, ChatCall, ChatRequest } from '../../core/chat.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import { scanLayout } from '../../wire/json/scan.ts'

/** The gateway translates this many values in some tens of milliseconds; half of what a body may have. */
const maxValues = 100_000
/** In characters: the shortest value and its comma. Below this total, arguments need no scan. */
const minItemLength = 2

/**
 * Throws `UntranslatableError` for a request that would take too long to translate, because of its number
 * of values. Numbers in arrays and the JSON in the arguments of calls count as well.
 */
export function checkRequestSize({ request, layout }: ChatCall): void {
  if (layout.values > maxValues || layout.commas > 2 * maxValues) {
    throw new UntranslatableError(
      `the request has more than ${maxValues} values; only providers that speak the OpenAI format accept it`,
    )
  }
  if (sumArgumentLengths(request) > maxValues * minItemLength) checkArguments(request)
}

function sumArgumentLengths({ messages }: ChatRequest): number {
  let length = 0
  for (const { tool_calls: calls } of messages) {
    if (!calls) continue
    for (const { function: called } of calls) length += getArgumentsText(called?.arguments).length
  }
  return length
}

function checkArguments({ messages }: ChatRequest): void {
  let items = 0
  for (const [m, { tool_calls: calls }] of messages.entries()) {
    for (const [n, { function: called }] of (calls ?? []).entries()) {
      const bytes = encoder.encode(getArgumentsText(called?.arguments))
      const { values, commas } = scanLayout(bytes, [], { limits })
      items += values + commas
      if (items <= maxValues) continue
      const path = `messages.${m}.tool_calls.${n}.function.arguments`
      throw new UntranslatableError(
        `${path}: the arguments of all calls have more than ${maxValues} values`,
        path,
      )
    }
  }
}

/** Returns arguments that are text. Those that are an object are already counted in the body. */
function getArgumentsText(given: CallArguments | null | undefined): string {
  return typeof given === 'string' ? given : ''
}

const limits = { maxDepth: Number.POSITIVE_INFINITY, maxValues }
const encoder = new TextEncoder()
