import type {
  DialectRequest,
  FailedAnswer,
  HeaderReader,
  ListedAnswer,
  NativeAnswer,
} from '../../core/endpoints.ts'
import type { UpstreamFailure } from '../../core/failure.ts'
import { filteredAnswer } from '../../core/fallback.ts'
import type { ByteSource, UpstreamResponse } from '../../core/ports.ts'
import { runInSteps } from '../../core/steps.ts'
import type { StreamClasses } from '../../core/streams.ts'
import { hasTokens, resolveUsage } from '../../core/usage.ts'
import type { Attempt, CallResult } from '../../resilience/index.ts'
import type { Snapshot } from '../../snapshot/index.ts'
import { createEstimatedUsage } from '../../tokens/index.ts'
import { BoundedQueue } from '../../wire/bounded-queue.ts'
import type { CancelScope } from '../../wire/cancel-scope.ts'
import { parseContentCoding, undecodableFailure } from '../../wire/content-coding.ts'
import { isJsonList, isLongAnswer, readInSteps, readWhole } from '../../wire/json/answer-body.ts'
import { answerLimits, eventLimits } from '../../wire/json/parse.ts'
import { TimeSlice } from '../../wire/time-slice.ts'
import { type CallDeps, callUpstream, failed, readAnswer } from '../upstream/call-upstream.ts'
import type { DoorCall } from './door.ts'
import { openStream, type PendingStream } from './reply-stream.ts'

export type ChatResponse =
  | { readonly kind: 'answer'; readonly answer: NativeAnswer; readonly isLong: boolean }
  | { readonly kind: 'stream'; readonly stream: PendingStream }

/** The gateway translates an answer with this many values, and writes it, in some tens of milliseconds each. */
const maxTranslatedValues = 200_000

/** The pieces in which the gateway reads a stream that it has written: between them it may yield. */
const pieceBytes = 64 * 1024

/** What every upstream call of one chat request needs. */
export interface ChatCallDeps extends CallDeps {
  /** Lets the next large body be parsed: this one is translated. */
  releaseParser(): void
  readonly snapshot: Pick<Snapshot, 'answerLimit'>
  readonly streams: StreamClasses
}

/** One upstream call for chat. */
export interface ChatAttempt {
  readonly attempt: Attempt
  /** An answer without content that the vendor's content filter has ended is a failure. */
  readonly failsFiltered: boolean
}

/** Makes one upstream call. It ends with the whole answer, or with the first content of a stream. */
export function callChat(
  call: DoorCall,
  { attempt, failsFiltered }: ChatAttempt,
  context: ChatCallDeps,
): Promise<CallResult<ChatResponse>> {
  const { link, scope } = attempt
  const { clock, bufferAccount, streams, snapshot } = context
  const bound = call.bind(link)
  const maxBytes = snapshot.answerLimit
  return callUpstream<ChatResponse>({
    attempt,
    deps: context,
    streamed: call.stream,
    maxAnswerBytes: maxBytes,
    request() {
      if (!call.isHeavy) return build()
      // A link that is tried again has to be prepared again.
      const preparing = call.prepareFor?.(link, new TimeSlice(clock, scope))
      return preparing ? preparing.then(build) : build()
    },
    parseError: (status, body, header) => bound.parseError(status, body, header),
    async read(response, header) {
      if (call.stream) {
        if (readMediaType(response) !== (bound.streamType ?? 'text/event-stream')) {
          return readMistyped(response, header)
        }
        return openEvents(response.body, header)
      }
      const { result, slice } = await readParsed(response, header)
      if (!result.ok) return toFailedCall(result, call)
      const { answer } = result
      if (failsFiltered && answer.isFiltered) {
        return toFailedCall({ ok: false, failure: filteredAnswer, usage: answer.usage }, call)
      }
      return { ok: true, value: { kind: 'answer', answer, isLong: slice !== undefined } }
    },
  })

  function build(): DialectRequest {
    const request = bound.buildRequest()
    call.forget()
    context.releaseParser()
    return request
  }

  async function readParsed(response: UpstreamResponse, header: HeaderReader) {
    const given = await readAnswer(response, { scope, bufferAccount, maxBytes })
    const listed = isJsonList(given) ? await readList(given) : undefined
    const bytes = listed?.whole ?? given
    const events = listed?.events
    if (!isLongAnswer(bytes)) {
      const body = readWhole(bytes)
      return { body, events, result: bound.parseAnswer(body, header), slice: undefined }
    }
    const slice = new TimeSlice(clock, scope)
    const body = await readInSteps(bytes, { slice, maxValues: limitValues(!events) })
    await slice.pause()
    const steps = bound.parseAnswerInSteps?.(body, header)
    const result = steps
      ? await runInSteps(steps, () => slice.pause())
      : bound.parseAnswer(body, header)
    await slice.pause()
    return { body, events, result, slice }
  }

  /** Reads a list of events. Each becomes an event again, so that together they may have more values. */
  async function readList(bytes: Uint8Array): Promise<ListedAnswer | undefined> {
    const slice = new TimeSlice(clock, scope)
    const body = await readInSteps(bytes, { slice, maxValues: answerLimits.maxValues })
    const steps = bound.readList(body)
    return steps && runInSteps(steps, () => slice.pause())
  }

  /** An answer in place of a stream becomes one event for each choice, unless its events are known. */
  function limitValues(becomesEvents: boolean): number {
    if (call.stream && becomesEvents)
      return bound.writesAnswer ? eventLimits.maxValues : maxTranslatedValues
    return bound.writesAnswer ? maxTranslatedValues : answerLimits.maxValues
  }

  function openEvents(body: ByteSource, header: HeaderReader) {
    const decoder = bound.createDecoder(header)
    const slice = new TimeSlice(clock, scope)
    const options = { streams, bufferAccount, failsFiltered, slice }
    const stream = openStream(body, decoder, options)
    return awaitContent(stream, { call, scope })
  }

  /** Reads the whole answer, or the error, that came in place of a stream. */
  async function readMistyped(
    response: UpstreamResponse,
    header: HeaderReader,
  ): Promise<CallResult<ChatResponse>> {
    // The coding comes first: a proxy that compresses an answer may change its type as well.
    const coding = parseContentCoding(response.header('content-encoding'))
    if (coding !== undefined) return failed(undecodableFailure(coding))
    if (!isJsonType(readMediaType(response))) return failed(notEventStream)
    const { body, events: listed, result, slice } = await readParsed(response, header)
    if (!result.ok) return toFailedCall(result, call)
    const written = listed ? undefined : bound.writeEvents(body)
    const events = listed ?? (written && cut(written))
    if (!events) return failed(notEventStream)
    if (slice) await slice.pause()
    const length = events.reduce((sum, piece) => sum + piece.length, 0)
    const source = new BoundedQueue(length, { unread: bufferAccount.openCounter() })
    for (const piece of events) source.push(piece)
    source.end()
    return openEvents(source, header)
  }
}

function cut(bytes: Uint8Array): readonly Uint8Array[] {
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    pieces.push(bytes.subarray(at, at + pieceBytes))
  }
  return pieces
}

function isJsonType(type: string): boolean {
  return type === 'application/json' || type === 'text/json' || type.endsWith('+json')
}

const notEventStream: UpstreamFailure = Object.freeze({
  kind: 'malformed',
  detail: 'the answer to a streamed request is not an event stream',
})

/** Waits for the first content: until then, another attempt can replace a stream that fails. */
async function awaitContent(
  stream: PendingStream,
  { call, scope }: AwaitedCall,
): Promise<CallResult<ChatResponse>> {
  const opening = await scope.race(stream.opened)
  if (!opening) return { ok: true, opened: true, value: { kind: 'stream', stream } }
  const { failure, usage } = opening
  return toFailedCall({ ok: false, failure: toStreamFailure(failure), usage }, call)
}

interface AwaitedCall {
  readonly call: DoorCall
  readonly scope: CancelScope
}

/** A failed answer is charged by what it reports, and without a report not at all. */
function toFailedCall({ failure, usage }: FailedAnswer, call: DoorCall): CallResult<ChatResponse> {
  if (!hasTokens(usage)) return failed(failure)
  const estimate = () => createEstimatedUsage(call.promptTokens, 0)
  return { ok: false, failure, usage: resolveUsage(usage, { outputBytes: 0, estimate }) }
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
