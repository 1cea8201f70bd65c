import type { NativeAnswer } from '../core/endpoints.ts'
import type { GatewayError } from '../core/errors.ts'
import { toStreamError, type UpstreamFailure } from '../core/failure.ts'
import { asHeaderList } from '../core/ports.ts'
import type { Model } from '../core/provider.ts'
import { jsonBytes, type Reply, streamHeaders } from '../core/reply.ts'
import { resolveUsage } from '../core/usage.ts'
import { runChain, type Served } from '../resilience/index.ts'
import type { StreamEnd } from '../stream/terminator.ts'
import { UsageTap } from '../stream/usage-tap.ts'
import { createEstimatedUsage, type TokenCountInput } from '../tokens/index.ts'
import type { AdmittedRequest } from './admitted-request.ts'
import { type ChatResponse, callChat } from './call-chat.ts'
import type { ChatDoor, DoorCall } from './chat-door.ts'
import { checkExpressible, explainSkip } from './expressible.ts'
import { checkImages, checkReferences } from './images.ts'
import type { Handler } from './plane.ts'
import { redactFailure } from './redact-failure.ts'
import { type PendingStream, ReplyStream } from './reply-stream.ts'
import type { RequestContext } from './request-context.ts'
import { estimateChatUsage } from './usage-estimate.ts'

/** Serves the requests of one API for chat, streamed and not. */
export function serveChat(door: ChatDoor): Handler {
  const isNative = (link: Model) => door.api in link.native
  return async (request, context) => {
    const slice = context.startTimeSlice()
    const authenticated = context.authenticate(request) // LM-4004
    const bytes = await authenticated.readBody(request) // LM-1002
    const call = await door.read({ bytes, request, slice, clock: context.clock }) // LM-1001
    const route = authenticated.resolve(call) // LM-2001, LM-4005, LM-2002
    checkImages(call.images, route, isNative) // LM-2003, LM-2004, LM-2008
    const listDropped = (link: Model) => {
      if (!isNative(link)) checkReferences(call.images, link)
      return call.bind(link).listUnsupported()
    }
    if (call.isHeavy) await slice.pause()
    checkExpressible(route, listDropped) // LM-1001
    if (call.isHeavy) await slice.pause()
    const cached =
      route.cache && (await authenticated.answerFromCache(route, { request, bytes, slice }))
    if (cached) return cached // LM-4002
    const admitted = authenticated.admit(route, () => estimateChatUsage(call)) // LM-4002, LM-4003, LM-4006, LM-4001
    if (call.isHeavy) await slice.pause()

    const serving = runChain<ChatResponse>(admitted, {
      explainSkip: (link) => explainSkip(link, listDropped, { context, admitted }),
      call: (attempt) => callChat(call, attempt, context),
    }) // LM-3xxx, LM-6001
    // By now the first link has translated the request.
    context.releaseParser()
    const served = await serving
    switch (served.value.kind) {
      case 'answer':
        return replyWithJson(served.value.answer, served, { call, context, admitted })
      case 'stream':
        return replyWithStream(served.value.stream, served, { call, context, admitted })
      default:
        return served.value satisfies never
    }
  }
}

interface ServedCall {
  readonly call: DoorCall
  readonly context: RequestContext
  readonly admitted: AdmittedRequest
}

function replyWithJson(
  answer: NativeAnswer,
  { link, scope }: Served<unknown>,
  { call, context, admitted }: ServedCall,
): Reply {
  scope.close()
  const { output, outputBytes } = answer
  const estimate = () => createEstimatedUsage(call.promptTokens, outputBytes)
  const usage = resolveUsage(answer.usage, { outputBytes, estimate })
  const body = answer.render(usage)
  const toInput = exactCounter(call, link, context)
  const toCountInput = toInput && (() => toInput(output))
  admitted.keepWhole({ body, link, usage })
  const cost = admitted.finish({ status: 200, served: link, usage, toCountInput })
  return jsonBytes(body, { headers: admitted.headersFor(link, cost) })
}

function replyWithStream(
  stream: PendingStream,
  { link, scope, reportEnd }: Served<unknown>,
  { call, context, admitted }: ServedCall,
): Reply {
  admitted.markFirstToken()
  // No closure below may hold the call, or its bytes would stay in memory as long as the stream lasts.
  const { isDoneOptional } = call.bind(link)
  const { choices } = call
  const writer = call.bind(link).createWriter({
    requestId: context.id,
    model: link.id,
    clock: context.clock,
  })
  const countPrompt = promptCounter(call)
  const toInput = call.choices > 1 ? undefined : exactCounter(call, link, context)
  context.releaseBody()
  const tap = new UsageTap({
    estimate: (outputBytes) => createEstimatedUsage(countPrompt(), outputBytes),
    shouldKeepOutput: toInput !== undefined,
  })
  const recorder = admitted.createRecorder(context.bufferAccount)
  const { body } = new ReplyStream(stream, {
    streams: context.streams,
    doneOptional: isDoneOptional,
    tap,
    writer,
    recorder,
    scope,
    clock: context.clock,
    heartbeat: context.snapshot.heartbeat,
    toError: (failure) => toTerminalError(failure, link),
    onEnd(end) {
      scope.close()
      const failure = end.complete ? undefined : end.failure
      reportEnd(failure)
      if (failure) admitted.addStreamFailure(link, redactFailure(failure, link.provider))
      if (end.complete && !end.finished) admitted.addUnfinishedStream(link)
      const error = failure && toTerminalError(failure, link)
      const { usage, output } = tap
      const whole = isKeepable(end, choices) ? recorder?.whole : undefined
      if (whole) admitted.keepStream({ body: whole, link, usage })
      admitted.finish({
        status: error?.status ?? 200,
        errorCode: error?.code,
        served: link,
        usage,
        toCountInput: toInput && output !== undefined ? () => toInput(output) : undefined,
      })
    },
  })
  const headers = asHeaderList([...streamHeaders, ...admitted.headersFor(link)])
  return { status: 200, headers, body }
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
