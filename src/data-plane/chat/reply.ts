import type { NativeAnswer } from '../../core/endpoints.ts'
import type { GatewayError } from '../../core/errors.ts'
import { toStreamError, type UpstreamFailure } from '../../core/failure.ts'
import { asHeaderList, type BufferedBody } from '../../core/ports.ts'
import type { Model } from '../../core/provider.ts'
import { jsonBytes, type Reply, streamHeaders } from '../../core/reply.ts'
import { runInSteps } from '../../core/steps.ts'
import { resolveUsage, type Usage } from '../../core/usage.ts'
import { explainRefusal } from '../../providers/index.ts'
import type { Served } from '../../resilience/index.ts'
import type { StreamEnd } from '../../stream/terminator.ts'
import { UsageTap } from '../../stream/usage-tap.ts'
import { createEstimatedUsage, type TokenCountInput } from '../../tokens/index.ts'
import type { TimeSlice } from '../../wire/time-slice.ts'
import type { AdmittedRequest } from '../request/admitted.ts'
import type { RequestContext } from '../request/context.ts'
import { redactFailure } from '../upstream/redact-failure.ts'
import type { DoorCall, EarlyWriter } from './door.ts'
import { type PendingStream, ReplyStream } from './reply-stream.ts'

interface ServedCall {
  readonly call: DoorCall
  readonly context: RequestContext
  readonly admitted: AdmittedRequest
}

interface StreamedCall extends ServedCall {
  readonly early?: EarlyWriter | undefined
}

/** Ends a request with a whole answer. */
export function replyWithJson(
  answer: NativeAnswer,
  { scope, link }: Served<unknown>,
  served: ServedCall,
): Reply {
  scope.close()
  const usage = resolveAnswerUsage(answer, served.call)
  return endWithJson({ answer, link, usage, body: answer.render(usage) }, served)
}

/** Does the same with a long answer, and yields to other work while it is rendered. */
export async function replyWithLongJson(
  answer: NativeAnswer,
  { scope, link }: Served<unknown>,
  { slice, ...served }: ServedCall & { readonly slice: TimeSlice },
): Promise<Reply> {
  scope.close()
  const usage = resolveAnswerUsage(answer, served.call)
  await slice.pause()
  const steps = answer.renderInSteps?.(usage)
  const body = steps ? await runInSteps(steps, () => slice.pause()) : answer.render(usage)
  await slice.pause()
  return endWithJson({ answer, link, usage, body }, served)
}

function resolveAnswerUsage({ usage, outputBytes }: NativeAnswer, call: DoorCall): Usage {
  const estimate = () => createEstimatedUsage(call.promptTokens, outputBytes)
  return resolveUsage(usage, { outputBytes, estimate })
}

interface RenderedAnswer {
  readonly answer: NativeAnswer
  readonly link: Model
  readonly usage: Usage
  readonly body: BufferedBody
}

/** Takes two objects, because joining them by a spread takes as long as parsing a short answer. */
function endWithJson(
  { answer: { output }, link, usage, body }: RenderedAnswer,
  { call, context, admitted }: ServedCall,
): Reply {
  const toInput = exactCounter(call, link, context)
  const toCountInput = toInput && (() => toInput(output))
  admitted.keepWhole({ body, link, usage, isWritten: call.bind(link).writesAnswer })
  const cost = admitted.finish({ status: 200, served: link, usage, toCountInput })
  return jsonBytes(body, { headers: admitted.headersFor(link, cost) })
}

/** Answers a request with a stream, whose end ends the request. */
export function replyWithStream(
  stream: PendingStream,
  { link, scope, reportEnd }: Served<unknown>,
  { call, context, admitted, early }: StreamedCall,
): Reply {
  admitted.markFirstToken()
  // No closure below may hold the call, or its bytes would stay in memory as long as the stream lasts.
  const { streamEnd, writesAnswer: isWritten } = call.bind(link)
  const { choices, streamType } = call
  const writer = call.bind(link).createWriter({
    requestId: context.id,
    model: link.id,
    clock: context.clock,
    early,
  })
  const countPrompt = promptCounter(call)
  const toInput = call.choices > 1 ? undefined : exactCounter(call, link, context)
  context.releaseBody()
  const explain = refusalExplainer(call, link)
  const tap = new UsageTap({
    estimate: (outputBytes) => createEstimatedUsage(countPrompt(), outputBytes),
    shouldKeepOutput: toInput !== undefined,
  })
  // What has been written before is missing in the bytes of the link.
  const recorder = early?.begin ? undefined : admitted.createRecorder(context.bufferAccount)
  const { body } = new ReplyStream(stream, {
    streams: context.streams,
    streamEnd,
    tap,
    writer,
    recorder,
    scope,
    clock: context.clock,
    heartbeat: context.snapshot.heartbeat,
    toError: (failure) => toTerminalError(explain(failure), link),
    onEnd(end) {
      scope.close()
      const failure = end.complete ? undefined : explain(end.failure)
      reportEnd(failure)
      if (failure) admitted.addStreamFailure(link, redactFailure(failure, link.provider))
      if (end.complete && !end.finished) admitted.addUnfinishedStream(link)
      const error = failure && toTerminalError(failure, link)
      const { usage, output } = tap
      const whole = isKeepable(end, choices) ? recorder?.whole : undefined
      if (whole) admitted.keepStream({ body: whole, link, usage, isWritten, streamType })
      admitted.finish({
        status: error?.status ?? 200,
        errorCode: error?.code,
        served: link,
        usage,
        toCountInput: toInput && output !== undefined ? () => toInput(output) : undefined,
      })
    },
  })
  const headers = asHeaderList([...streamHeaders(streamType), ...admitted.headersFor(link)])
  return { status: 200, headers, body }
}

/**
 * Returns a function that explains a failure after the commit. The words of a vendor count only when they can be
 * compared with the request, which a heavy call no longer has; its codes always count.
 */
function refusalExplainer(
  call: DoorCall,
  link: Model,
): (failure: UpstreamFailure) => UpstreamFailure {
  return call.isHeavy ? explainByCodes : explainWithRequest(call, link)
}

function explainByCodes(failure: UpstreamFailure): UpstreamFailure {
  return explainRefusal(failure, () => undefined)
}

/** A function of its own, because a closure holds all variables of the functions around it. */
function explainWithRequest(
  call: DoorCall,
  link: Model,
): (failure: UpstreamFailure) => UpstreamFailure {
  return (failure) => explainRefusal(failure, () => call.bind(link).buildRequest())
}

/** Of several choices one may be missing, unless the upstream says that the stream has ended. */
function isKeepable(end: StreamEnd, choices: number): boolean {
  return end.complete && end.allFinished && (end.terminated || choices === 1)
}

/** Returns a function that counts the prompt. A heavy call is counted now, so that it is not held. */
function promptCounter(call: DoorCall): () => number {
  return call.isHeavy ? always(call.promptTokens) : () => call.promptTokens
}

function always<Value>(value: Value): () => Value {
  return () => value
}

/**
 * Returns a function that prepares the exact count of a call and its output; undefined where
 * estimates are not replaced, and for calls that would take too long.
 */
function exactCounter(
  call: DoorCall,
  link: Model,
  context: RequestContext,
): ((output: string) => TokenCountInput) | undefined {
  const encoding = call.isLarge ? undefined : context.findEncoding(link)
  return encoding && ((output) => call.toCountInput(encoding, output))
}

function toTerminalError(failure: UpstreamFailure, { provider }: Model): GatewayError {
  return toStreamError(redactFailure(failure, provider), provider.name)
}
