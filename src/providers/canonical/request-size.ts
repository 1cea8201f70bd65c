import type { CallArguments, ChatCall, ChatRequest } from '../../core/chat.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import { scanLayout } from '../../wire/json-scan.ts'

/** What can be said in another format in some dozens of milliseconds: half of what a body may hold. */
const maxValues = 100_000
/** The shortest value and its comma. Arguments that are short together need no look at each. */
const minItemLength = 2

/**
 * Throws `UntranslatableError` for a request that would take long to say in another format: for how much it
 * holds, arrays of numbers and the JSON in the arguments of its calls included.
 */
export function checkRequestSize({ request, layout }: ChatCall): void {
  if (layout.values > maxValues || layout.commas > 2 * maxValues) {
    throw new UntranslatableError(
      `the request holds more than ${maxValues} values; only providers of the OpenAI format take it`,
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
        `${path}: the arguments of all calls hold more than ${maxValues} values`,
        path,
      )
    }
  }
}

/** Arguments that are an object are values of the body. */
function getArgumentsText(given: CallArguments | null | undefined): string {
  return typeof given === 'string' ? given : ''
}

const limits = { maxDepth: Number.POSITIVE_INFINITY, maxValues: maxValues }
const encoder = new TextEncoder()
