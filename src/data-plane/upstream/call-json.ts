import type { AnswerBody } from '../../core/endpoints.ts'
import type { UpstreamResponse } from '../../core/ports.ts'
import type { CallResult } from '../../resilience/index.ts'
import type { Snapshot } from '../../snapshot/index.ts'
import { isLongAnswer, readInSteps, readWhole } from '../../wire/json/answer-body.ts'
import { TimeSlice } from '../../wire/time-slice.ts'
import { type CallDeps, callUpstream, readAnswer, type UpstreamCall } from './call-upstream.ts'

export interface JsonCallDeps extends CallDeps {
  readonly snapshot: Pick<Snapshot, 'answerLimit'>
}

/** One upstream call whose answer is read as JSON, and never a stream. */
export interface JsonCall<T> extends Pick<UpstreamCall<T>, 'attempt' | 'request' | 'parseError'> {
  readonly deps: JsonCallDeps
  /** Maximum number of values of a long answer. */
  readonly maxValues: number
  readonly readJson: (answer: JsonAnswer) => CallResult<T> | Promise<CallResult<T>>
}

export interface JsonAnswer {
  readonly body: AnswerBody
  /** For further work on a long answer; undefined for a short one, which is read at once. */
  readonly slice: TimeSlice | undefined
}

/** Makes one upstream call, and reads the whole body of its answer, a long one in steps. */
export function callJson<T>(call: JsonCall<T>): Promise<CallResult<T>> {
  const { attempt, deps, request, parseError } = call
  return callUpstream<T>({
    attempt,
    deps,
    streamed: false,
    maxAnswerBytes: deps.snapshot.answerLimit,
    request,
    parseError,
    read: async (response) => call.readJson(await readJsonAnswer(response, call)),
  })
}

async function readJsonAnswer<T>(
  response: UpstreamResponse,
  { attempt: { scope }, deps, maxValues }: JsonCall<T>,
): Promise<JsonAnswer> {
  const { bufferAccount, clock, snapshot } = deps
  const bytes = await readAnswer(response, { scope, bufferAccount, maxBytes: snapshot.answerLimit })
  if (!isLongAnswer(bytes)) return { body: readWhole(bytes), slice: undefined }
  const slice = new TimeSlice(clock, scope)
  const body = await readInSteps(bytes, { slice, maxValues })
  await slice.pause()
  return { body, slice }
}
