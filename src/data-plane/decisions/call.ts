import type { DecisionAnswer, DecisionEndpoint } from '../../core/endpoints.ts'
import {
  createPromptUsage,
  hasTokens,
  type ReportedUsage,
  resolveUsage,
  type Usage,
} from '../../core/usage.ts'
import type { Attempt, CallResult } from '../../resilience/index.ts'
import { answerLimits } from '../../wire/json/parse.ts'
import { callJson, type JsonCallDeps } from '../upstream/call-json.ts'
import { failed } from '../upstream/call-upstream.ts'
import type { ReadDecisions } from './input.ts'

/** Makes one upstream call. */
export function callDecisions(
  call: ReadDecisions,
  attempt: Attempt,
  deps: JsonCallDeps,
): Promise<CallResult<DecisionAnswer>> {
  // A route for decisions has only links with an endpoint for them.
  const endpoint = attempt.link.decisions as DecisionEndpoint
  return callJson({
    attempt,
    deps,
    maxValues: answerLimits.maxValues,
    request: () => endpoint.buildRequest(call),
    parseError: (status, body, header) => endpoint.parseError(status, body, header),
    readJson({ body }): CallResult<DecisionAnswer> {
      const result = endpoint.parseAnswer(body)
      if (result.ok) return { ok: true, value: result.answer }
      const { failure, usage } = result
      // A failed answer is charged by what it reports, and without a report not at all.
      return hasTokens(usage)
        ? { ok: false, failure, usage: countDecisions(call, usage) }
        : failed(failure)
    },
  })
}

/** The usage of an answer as reported. What is not reported of the prompt is estimated; output is not. */
export function countDecisions(
  { promptTokens }: Pick<ReadDecisions, 'promptTokens'>,
  reported: ReportedUsage | undefined,
): Usage {
  const estimate = () => createPromptUsage(promptTokens, true)
  return resolveUsage(reported, { outputBytes: 0, estimate })
}
