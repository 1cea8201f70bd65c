import type { DecisionAnswer, DecisionEndpoint } from '../../core/endpoints.ts'
import {
  createPromptUsage,
  type ReportedUsage,
  resolveUsage,
  type Usage,
} from '../../core/usage.ts'
import type { Attempt, CallResult } from '../../resilience/index.ts'
import type { Snapshot } from '../../snapshot/index.ts'
import { isLongAnswer, readInSteps, readWhole } from '../../wire/json/answer-body.ts'
import { answerLimits } from '../../wire/json/parse.ts'
import { TimeSlice } from '../../wire/time-slice.ts'
import { type CallDeps, callUpstream, readAnswer } from '../upstream/call-upstream.ts'
import type { ReadDecisions } from './input.ts'

/** What every upstream call of one request needs. */
export interface DecisionDeps extends CallDeps {
  readonly snapshot: Pick<Snapshot, 'answerLimit'>
}

/** Makes one upstream call. */
export function callDecisions(
  call: ReadDecisions,
  { link, scope, credential, mayResend, resends }: Attempt,
  { clock, bufferAccount, trace, snapshot }: DecisionDeps,
): Promise<CallResult<DecisionAnswer>> {
  // A route for decisions has only links with an endpoint for them.
  const endpoint = link.decisions as DecisionEndpoint
  const maxBytes = snapshot.answerLimit
  return callUpstream<DecisionAnswer>({
    link,
    scope,
    credential,
    mayResend,
    resends,
    clock,
    bufferAccount,
    trace,
    streamed: false,
    maxAnswerBytes: maxBytes,
    request: () => endpoint.buildRequest(call),
    parseError: (status, body, header) => endpoint.parseError(status, body, header),
    async read(response) {
      const bytes = await readAnswer(response, { scope, bufferAccount, maxBytes })
      const slice = isLongAnswer(bytes) ? new TimeSlice(clock, scope) : undefined
      const { maxValues } = answerLimits
      const body = slice ? await readInSteps(bytes, { slice, maxValues }) : readWhole(bytes)
      if (slice) await slice.pause()
      const result = endpoint.parseAnswer(body)
      if (result.ok) return { ok: true, value: result.answer }
      const { failure, usage } = result
      // A failed answer is charged by what it reports, and without a report not at all.
      return {
        ok: false,
        failure,
        ...(isReported(usage) && { usage: countDecisions(call, usage) }),
      }
    },
  })
}

function isReported(usage: ReportedUsage | undefined): boolean {
  return (usage?.promptTokens ?? 0) > 0 || (usage?.completionTokens ?? 0) > 0
}

/** The usage of an answer as reported. What is not reported of the prompt is estimated; output is not. */
export function countDecisions(
  { promptTokens }: Pick<ReadDecisions, 'promptTokens'>,
  reported: ReportedUsage | undefined,
): Usage {
  const estimate = () => createPromptUsage(promptTokens, true)
  return resolveUsage(reported, { outputBytes: 0, estimate })
}
