import type { DecisionAnswer, DecisionEndpoint } from '../../core/endpoints.ts'
import {
  createPromptUsage,
  hasTokens,
  type ReportedUsage,
  resolveUsage,
  type Usage,
} from '../../core/usage.ts'
import type { Attempt, CallResult } from '../../resilience/index.ts'
import type { Snapshot } from '../../snapshot/index.ts'
import { answerLimits } from '../../wire/json/parse.ts'
import { type CallDeps, callUpstream, failed, readJsonAnswer } from '../upstream/call-upstream.ts'
import type { ReadDecisions } from './input.ts'

/** What every upstream call of one request needs. */
export interface DecisionDeps extends CallDeps {
  readonly snapshot: Pick<Snapshot, 'answerLimit'>
}

/** Makes one upstream call. */
export function callDecisions(
  call: ReadDecisions,
  attempt: Attempt,
  deps: DecisionDeps,
): Promise<CallResult<DecisionAnswer>> {
  // A route for decisions has only links with an endpoint for them.
  const endpoint = attempt.link.decisions as DecisionEndpoint
  const { scope } = attempt
  const { clock, bufferAccount } = deps
  const maxBytes = deps.snapshot.answerLimit
  return callUpstream<DecisionAnswer>({
    attempt,
    deps,
    streamed: false,
    maxAnswerBytes: maxBytes,
    request: () => endpoint.buildRequest(call),
    parseError: (status, body, header) => endpoint.parseError(status, body, header),
    async read(response) {
      const { maxValues } = answerLimits
      const options = { scope, bufferAccount, maxBytes, clock, maxValues }
      const { body } = await readJsonAnswer(response, options)
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
