import type { UpstreamFailure } from '../../core/failure.ts'
import { isObject } from '../../wire/json/parse.ts'
import { isStatedError, toFrameFailure } from '../base/hidden-error.ts'
import { isFailedFinish } from '../profiles/index.ts'

/**
 * Returns the failure of the first choice that has failed: OpenRouter and others report it in a choice, with an
 * error or with a finish reason. Undefined when none has.
 */
export function findFailedChoice(choices: readonly unknown[]): UpstreamFailure | undefined {
  for (const choice of choices) {
    if (!isObject(choice)) continue
    const { error, finish_reason: reason } = choice
    if (isStatedError(error)) return toFrameFailure({ error })
    if (isFailedFinish(reason)) {
      return { kind: 'error-frame', message: `the answer ended with finish_reason "${reason}"` }
    }
  }
  return undefined
}
