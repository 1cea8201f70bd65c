import type { GatewayError } from '../core/errors.ts'
import { streamErrorOf, type UpstreamFailure } from '../core/failure.ts'
import type { StreamIdentity } from '../core/frame.ts'
import { newCompletionId } from '../core/ids.ts'
import type { ChatAnswer, ChatEndpoint, Model } from '../core/provider.ts'
import { jsonBytes, type Reply } from '../core/reply.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import { resolveUsage } from '../core/usage.ts'
import { runChain, type Served } from '../resilience/index.ts'
import { errorFrame } from '../stream/error-frame.ts'
import { UsageTap } from '../stream/usage-tap.ts'
import { countableChat, estimateChat, type TokenCountInput } from '../tokens/index.ts'
import { type ChatReply, callChat } from './call-chat.ts'
import { type ParsedChat, readChat } from './chat-input.ts'
import type { Exchange } from './exchange.ts'
import { checkExpressible, whyUnable } from './expressible.ts'
import { checkImages, checkReferences } from './images.ts'
import { redactFailure } from './redact-failure.ts'
import { type PeekedStream, ReplyStream } from './reply-stream.ts'
import { estimateChatUsage } from './usage-estimate.ts'

/** `POST /v1/chat/completions`, streamed and not. */
export async function chat(request: Request, exchange: Exchange): Promise<Reply> {
  const { snapshot, pace } = exchange
  const body = await exchange.body(request)
  const call = await readChat(body, pace)
  exchange.stream = call.stream
  const route = snapshot.resolve(call.request.model, 'chat')
  exchange.routed(route)
  checkImages(call.request, route)
  const droppedBy = (link: Model) => {
    if (link !== route.model) checkReferences(call.request, link)
    return dialectOf(link).listUnsupported(call)
  }
  if (call.isHeavy) await pace.pause()
  checkExpressible(route, droppedBy)
  if (call.isHeavy) await pace.pause()
  exchange.admit(route, () => estimateChatUsage(call))
  if (call.isHeavy) await pace.pause()

  const setting = exchange.chainOf(route, (link) => whyUnable(link, droppedBy, exchange))
  const serving = runChain<ChatReply>(setting, async (context) => {
    const result = await callChat(call, context, exchange)
    exchange.attempted(context.link, result)
    return result
  })
  // The first link has said the request in its own way by now.
  exchange.parsed()
  const served = await serving
  switch (served.value.kind) {
    case 'answer':
      return answerWhole(call, served, served.value.answer, exchange)
    case 'stream':
      return answerStream(call, served, served.value.stream, exchange)
    default:
      return served.value satisfies never
  }
}

function answerWhole(
  call: ParsedChat,
  { link, scope }: Served<ChatReply>,
  answer: ChatAnswer,
  exchange: Exchange,
): Reply {
  scope.close()
  const { output, outputBytes } = answer
  const estimate = () => estimateChat(call.promptTokens, outputBytes)
  const usage = resolveUsage(answer.usage, { outputBytes, estimate })
  const body = answer.render(usage)
  const countable = usage.estimatedSide && exactCount(call, link, exchange)?.(output)
  exchange.settle({ status: 200, served: link, usage, countable })
  return jsonBytes(body, { headers: exchange.headersOf(link) })
}

function answerStream(
  call: ParsedChat,
  { link, scope, over }: Served<ChatReply>,
  stream: PeekedStream,
  exchange: Exchange,
): Reply {
  exchange.committed()
  const endpoint = dialectOf(link)
  // Nothing of the stream may hold on to the call, or its bytes would stay for as long as it lasts.
  const { wantsUsageChunk } = call
  const countPrompt = promptCount(call)
  const count = call.choices > 1 ? undefined : exactCount(call, link, exchange)
  exchange.bodyUsed()
  const tap = new UsageTap({
    asked: wantsUsageChunk,
    identity: () => newIdentity(link, exchange),
    estimate: (outputBytes) => estimateChat(countPrompt(), outputBytes),
    keepsOutput: count !== undefined,
  })
  const { body } = new ReplyStream(stream, {
    streams: exchange.streams,
    doneOptional: endpoint.isDoneOptional,
    tap,
    scope,
    clock: exchange.clock,
    heartbeat: exchange.snapshot.heartbeat,
    terminalFrame: (failure) => errorFrame(errorOfEnd(failure, link), exchange.id),
    onEnd(end) {
      scope.close()
      const failure = end.complete ? undefined : end.failure
      over(failure)
      if (failure) exchange.brokeOff(link, redactFailure(failure, link.provider))
      if (end.complete && !end.finished) exchange.unfinished(link)
      const error = failure && errorOfEnd(failure, link)
      const outcome = error ? { status: error.status, errorCode: error.code } : { status: 200 }
      const { usage, output } = tap
      const isCounted = count && usage.estimatedSide && output !== undefined
      const countable = isCounted ? count(output) : undefined
      exchange.settle({ ...outcome, served: link, usage, countable })
    },
  })
  return {
    status: 200,
    headers: [...streamHeaders, ...exchange.headersOf(link)],
    body,
  }
}

/** The chain was chosen for its chat capability, so every link has the dialect. */
function dialectOf(link: Model): ChatEndpoint {
  return link.chat as ChatEndpoint
}

/** Counts the prompt when that is needed; that of a heavy call now, not to hold on to it. */
function promptCount(call: ParsedChat): () => number {
  return call.isHeavy ? always(call.promptTokens) : () => call.promptTokens
}

function always<Value>(value: Value): () => Value {
  return () => value
}

/** The way to count exactly; undefined where that is not to be done, or where it would take too long. */
function exactCount(
  call: ParsedChat,
  link: Model,
  exchange: Exchange,
): ((output: string) => TokenCountInput) | undefined {
  const encoding = call.isLarge ? undefined : exchange.encodingOf(link)
  return encoding && ((output) => countableChat({ encoding, request: call.request, output }))
}

function errorOfEnd(failure: UpstreamFailure, { provider }: Model): GatewayError {
  return streamErrorOf(redactFailure(failure, provider), provider.name)
}

const streamHeaders = [
  'content-type',
  'text/event-stream; charset=utf-8',
  'cache-control',
  'no-cache',
  // Or nginx collects the frames until its buffer is full.
  'x-accel-buffering',
  'no',
] as const

function newIdentity(link: Model, { clock }: Exchange): StreamIdentity {
  return { id: newCompletionId(), created: unixSeconds(clock), model: link.id }
}
