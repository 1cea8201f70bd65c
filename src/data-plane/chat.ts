import type { ChatCall } from '../core/chat.ts'
import type { GatewayError } from '../core/errors.ts'
import { streamErrorOf, type UpstreamFailure } from '../core/failure.ts'
import type { StreamIdentity } from '../core/frame.ts'
import { newCompletionId } from '../core/ids.ts'
import type { Encoding } from '../core/ports.ts'
import type { ChatAnswer, ChatEndpoint, Model } from '../core/provider.ts'
import { jsonBytes, type Reply } from '../core/reply.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import { judgeUsage } from '../core/usage.ts'
import { runChain, type Served } from '../resilience/index.ts'
import { errorFrame } from '../stream/error-frame.ts'
import { UsageTap } from '../stream/usage-tap.ts'
import { countableChat, estimateChat } from '../tokens/index.ts'
import { attemptChat, type ChatReply, type LiveStream } from './chat-attempt.ts'
import { readChat } from './chat-input.ts'
import { chatDemand } from './demand.ts'
import type { Exchange } from './exchange.ts'
import { checkExpressible, whyUnable } from './expressible.ts'
import { checkImages, checkReferences } from './images.ts'
import { presentable } from './presentable.ts'
import { StreamReply } from './stream-reply.ts'

/** `POST /v1/chat/completions`, streamed and not. */
export async function chat(request: Request, exchange: Exchange): Promise<Reply> {
  const { snapshot, clock } = exchange
  const call = await readChat(await exchange.body(request), exchange.pace)
  exchange.stream = call.stream
  const route = snapshot.route(call.request.model, 'chat')
  exchange.routed(route)
  checkImages(call.request, route)
  const droppedBy = (link: Model) => {
    if (link !== route.model) checkReferences(call.request, link)
    return dialectOf(link).unsupported(call)
  }
  checkExpressible(route, droppedBy)
  exchange.admit(route, () => chatDemand(call))

  const served = await runChain<ChatReply>({
    ...exchange.chainOf(route),
    whyUnable: (link) => whyUnable(link, droppedBy, exchange),
    attempt: async (context) => {
      const result = await attemptChat({ ...context, call, clock })
      exchange.attempted(context.link, result)
      return result
    },
  })
  switch (served.value.kind) {
    case 'answer':
      return answerWhole(call, served, served.value.answer, exchange)
    case 'stream':
      return answerStream(call, served, served.value.live, exchange)
    default:
      return served.value satisfies never
  }
}

function answerWhole(
  call: ChatCall,
  { link, scope }: Served<ChatReply>,
  answer: ChatAnswer,
  exchange: Exchange,
): Reply {
  scope.close()
  const { request } = call
  const { output, outputBytes } = answer
  const estimate = () => estimateChat(request, outputBytes)
  const usage = judgeUsage(answer.usage, { outputBytes, estimate })
  const body = answer.render(usage)
  const encoding = usage.estimatedSide && exchange.encodingOf(link)
  const countable = encoding && countableChat({ encoding, request, output })
  exchange.settle({ status: 200, served: link, usage, countable })
  return jsonBytes(body, { headers: exchange.headersOf(link) })
}

function answerStream(
  call: ChatCall,
  { link, scope, over }: Served<ChatReply>,
  live: LiveStream,
  exchange: Exchange,
): Reply {
  exchange.committed()
  const endpoint = dialectOf(link)
  const encoding = streamEncoding(call, link, exchange)
  const tap = new UsageTap({
    asked: call.wantsUsageChunk,
    identity: () => newIdentity(link, exchange),
    estimate: (outputBytes) => estimateChat(call.request, outputBytes),
    keepsOutput: encoding !== undefined,
  })
  const reply = new StreamReply({
    live,
    doneOptional: endpoint.doneOptional,
    tap,
    scope,
    clock: exchange.clock,
    heartbeat: exchange.snapshot.heartbeat,
    terminalFrame: (failure) => errorFrame(errorOfEnd(failure, link), exchange.id),
    onEnd(end) {
      scope.close()
      const failure = end.complete ? undefined : end.failure
      over(failure)
      if (failure) exchange.brokeOff(link, presentable(failure, link.provider))
      if (end.complete && !end.finished) exchange.unfinished(link)
      const error = failure && errorOfEnd(failure, link)
      const outcome = error ? { status: error.status, errorCode: error.code } : { status: 200 }
      const { usage, output } = tap
      const isCounted = encoding && usage.estimatedSide && output !== undefined
      const countable = isCounted
        ? countableChat({ encoding, request: call.request, output })
        : undefined
      exchange.settle({ ...outcome, served: link, usage, countable })
    },
  })
  return {
    status: 200,
    headers: [...streamHeaders, ...exchange.headersOf(link)],
    body: reply,
  }
}

/** The chain was chosen for its chat capability, so every link has the dialect. */
function dialectOf(link: Model): ChatEndpoint {
  return link.chat as ChatEndpoint
}

/** Several choices come interleaved, and their pieces add up to words only one choice at a time. */
function streamEncoding(
  { request }: ChatCall,
  link: Model,
  exchange: Exchange,
): Encoding | undefined {
  return (request.n ?? 1) > 1 ? undefined : exchange.encodingOf(link)
}

function errorOfEnd(failure: UpstreamFailure, { provider }: Model): GatewayError {
  return streamErrorOf(presentable(failure, provider), provider.name)
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
