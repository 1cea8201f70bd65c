import type { ChatCall, ChatRequest } from '../../core/chat.ts'
import { runAtOnce, type Steps } from '../../core/steps.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'

/** A pure function of a call, which runs once for all links and attempts. */
export interface PerCall<Value> {
  (call: ChatCall): Value
  /** Does the same in steps. */
  readonly inSteps: (call: ChatCall) => Steps<Value>
}

type Outcome<Value> = { readonly value: Value } | { readonly error: UntranslatableError }

/**
 * Caches a pure function of a call: its value, or the `UntranslatableError` that it throws. The outcome is kept as
 * long as the parsed request.
 */
export function memoizePerCall<Value>(read: (call: ChatCall) => Steps<Value>): PerCall<Value> {
  const outcomes = new WeakMap<ChatRequest, Outcome<Value>>()

  function* runOnce(call: ChatCall): Steps<Value> {
    const { request } = call
    const known = outcomes.get(request)
    if (known) return open(known)
    try {
      const value = yield* read(call)
      outcomes.set(request, { value })
      return value
    } catch (error) {
      if (error instanceof UntranslatableError) outcomes.set(request, { error })
      throw error
    }
  }

  function runNow(call: ChatCall): Value {
    const known = outcomes.get(call.request)
    return known ? open(known) : runAtOnce(runOnce(call))
  }

  return Object.assign(runNow, { inSteps: runOnce })
}

function open<Value>(outcome: Outcome<Value>): Value {
  if ('error' in outcome) throw outcome.error
  return outcome.value
}
