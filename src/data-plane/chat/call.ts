import type { AnswerResult, NativeAnswer } from '../../core/endpoints.ts'
import type { UpstreamFailure } from '../../core/failure.ts'
import type { UpstreamResponse } from '../../core/ports.ts'
import type { StreamClasses } from '../../core/streams.ts'
import type { Attempt, CallResult } from '../../resilience/index.ts'
import type { Snapshot } from '../../snapshot/index.ts'
import { isLongAnswer, readInSteps, readWhole } from '../../wire/answer-body.ts'
import type { CancelScope } from '../../wire/cancel-scope.ts'
import { parseContentCoding, undecodableFailure } from '../../wire/content-coding.ts'
import { answerLimits } from '../../wire/json.ts'
import { TimeSlice } from '../../wire/time-slice.ts'
import { type CallDeps, callUpstream, failed, readAnswer } from '../upstream/call-upstream.ts'
import type { DoorCall } from './door.ts'
import { openStream, type PendingStream } from './reply-stream.ts'

export type ChatResponse =
  | { readonly kind: 'answer'; readonly answer: NativeAnswer; readonly isLong: boolean }
  | { readonly kind: 'stream'; readonly stream: PendingStream }

/** The gateway translates an answer with this many values, and writes it, in some tens of milliseconds each. */
const maxTranslatedValues = 200_000

/** What every upstream call of one chat request needs. */
export interface ChatCallDeps extends CallDeps {
  readonly snapshot: Pick<Snapshot, 'answerLimit'>
  readonly streams: StreamClasses
}

/** Makes one upstream call. It ends with the whole answer, or with the first content of a stream. */
export function callChat(
  call: DoorCall,
  { link, scope, credential, mayResend, resends }: Attempt,
  { clock, bufferAccount, trace, streams, snapshot }: ChatCallDeps,
): Promise<CallResult<ChatResponse>> {
  const bound = call.bind(link)
  const maxBytes = snapshot.answerLimit
  return callUpstream<ChatResponse>({
    link,
    scope,
    credential,
    mayResend,
    resends,
    clock,
    bufferAccount,
    trace,
    streamed: call.stream,
    maxAnswerBytes: maxBytes,
    request() {
      const request = bound.buildRequest()
      call.forget()
      return request
    },
    parseError: (status, body, header) => bound.parseError(status, body, header),
    async read(response, header) {
      if (call.stream) {
        if (readMediaType(response) !== (bound.streamType ?? 'text/event-stream')) {
          return failed(describeMistyped(response))
        }
        const decoder = bound.createDecoder(header)
        return awaitContent(openStream(response.body, decoder, { streams, bufferAccount }), scope)
      }
      const bytes = await readAnswer(response, { scope, bufferAccount, maxBytes })
      if (!isLongAnswer(bytes)) return toResult(bound.parseAnswer(readWhole(bytes), header), false)
      const slice = new TimeSlice(clock, scope)
      const maxValues = bound.writesAnswer ? maxTranslatedValues : answerLimits.maxValues
      const body = await readInSteps(bytes, { slice, maxValues })
      await slice.pause()
      const result = bound.parseAnswer(body, header)
      await slice.pause()
      return toResult(result, true)
    },
  })
}

function toResult(result: AnswerResult<NativeAnswer>, isLong: boolean): CallResult<ChatResponse> {
  return result.ok ? { ok: true, value: { kind: 'answer', answer: result.answer, isLong } } : result
}

/** The coding comes first: a proxy that compresses an answer may change its type as well. */
function describeMistyped(response: UpstreamResponse): UpstreamFailure {
  const coding = parseContentCoding(response.header('content-encoding'))
  return coding === undefined ? notEventStream : undecodableFailure(coding)
}

const notEventStream: UpstreamFailure = Object.freeze({
  kind: 'malformed',
  detail: 'the answer to a streamed request is not an event stream',
})

/** Waits for the first content: until then, another attempt can replace a stream that fails. */
async function awaitContent(
  stream: PendingStream,
  scope: CancelScope,
): Promise<CallResult<ChatResponse>> {
  const failure = await scope.race(stream.opened)
  if (failure) return failed(toStreamFailure(failure))
  return { ok: true, opened: true, value: { kind: 'stream', stream } }
}

/** Reads the content type, without its parameters. */
function readMediaType(response: UpstreamResponse): string {
  const [type = ''] = (response.header('content-type') ?? '').split(';')
  return type.trim().toLowerCase()
}

/** The body of the answer has begun, so a lost connection means that the stream closed early. */
function toStreamFailure(failure: UpstreamFailure): UpstreamFailure {
  const { kind } = failure
  return kind === 'network' ? { kind: 'closed-early', reason: failure.reason } : failure
}
