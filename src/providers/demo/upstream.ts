import { UpstreamFault } from '../../core/failure.ts'
import type { Millis } from '../../core/ids.ts'
import type {
  CancelSignal,
  Clock,
  UpstreamPort,
  UpstreamRequest,
  UpstreamResponse,
} from '../../core/ports.ts'
import type { DemoSettings } from '../../core/provider-kind.ts'
import { BoundedQueue } from '../../wire/bounded-queue.ts'
import { LightAbortController } from '../../wire/light-abort-controller.ts'
import type { DemoAnswer, DemoEvent } from './answer.ts'
import { answerChat } from './chat.ts'
import { answerCompletion } from './completions.ts'
import { answerDecisions, answerSystemOne } from './decisions.ts'
import { answerEmbed } from './embed.ts'
import { answerRerank } from './rerank.ts'

type DemoRoute = (body: unknown, clock: Clock) => DemoAnswer

const routes: Readonly<Record<string, DemoRoute>> = {
  '/v1/chat/completions': answerChat,
  '/v1/completions': answerCompletion,
  '/v1/embeddings': answerEmbed,
  '/v1/rerank': answerRerank,
  '/v1/decisions': answerDecisions,
  '/v1/systemone': answerSystemOne,
}

/** Creates an upstream without a network, with the configured latency, pace and failures. */
export function createDemoUpstream(settings: DemoSettings, clock: Clock): UpstreamPort {
  const fails = spreadFailures(settings.failureRate)
  return async (request) => {
    await wait(settings.latency, clock, request.signal)
    const answer: DemoAnswer = fails()
      ? failure
      : (routes[new URL(request.url).pathname] ?? notFound)(parseBody(request.body), clock)
    return 'events' in answer
      ? createStreamResponse(answer.events, settings.tokensPerSecond, clock, request)
      : createJsonResponse(answer, request)
  }
}

const failure: DemoAnswer = {
  status: 503,
  json: {
    error: {
      message: 'the demo provider failed as configured by failure_rate',
      type: 'server_error',
    },
  },
}

const notFound: DemoRoute = () => ({
  status: 404,
  json: { error: { message: 'the demo provider has no such path', type: 'not_found_error' } },
})

/** Returns a function that is true for this share of its calls, evenly spread so that runs repeat. */
function spreadFailures(rate: number): () => boolean {
  let calls = 0
  return () => {
    calls++
    return Math.floor(calls * rate) > Math.floor((calls - 1) * rate)
  }
}

function createJsonResponse(
  answer: { status: number; json: unknown },
  request: UpstreamRequest,
): UpstreamResponse {
  const body = new BoundedQueue(request.queueLimit, { unread: request.unread })
  body.push(encoder.encode(JSON.stringify(answer.json)))
  body.end()
  return createResponse(answer.status, 'application/json', body)
}

/** Writes the events at the given pace; 0 tokens per second writes them at once. */
function createStreamResponse(
  events: readonly DemoEvent[],
  tokensPerSecond: number,
  clock: Clock,
  { queueLimit, unread, signal }: UpstreamRequest,
): UpstreamResponse {
  // A reader that cancels ends the writing, as the signal does.
  const over = new LightAbortController()
  const body = new BoundedQueue(queueLimit, { onRelease: () => over.abort(), unread })
  signal.addEventListener('abort', () => over.abort())
  const write = async () => {
    for (const { data, tokens } of events) {
      if (tokensPerSecond > 0) await wait((tokens * 1000) / tokensPerSecond, clock, over)
      body.push(encoder.encode(`data: ${data}\n\n`))
    }
    body.end()
  }
  // Writing fails only when its wait is aborted, and then the body has no reader.
  write().catch(() => body.cancel())
  return createResponse(200, 'text/event-stream', body)
}

function createResponse(status: number, type: string, body: BoundedQueue): UpstreamResponse {
  return { status, body, header: (name) => (name === 'content-type' ? type : undefined) }
}

function wait(delay: Millis, clock: Clock, signal: CancelSignal): Promise<void> {
  const aborted = () => new UpstreamFault({ kind: 'network', reason: 'aborted' })
  if (signal.aborted) return Promise.reject(aborted())
  if (delay <= 0) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const stop = () => {
      timer.cancel()
      reject(aborted())
    }
    const timer = clock.schedule(delay, () => {
      signal.removeEventListener('abort', stop)
      resolve()
    })
    signal.addEventListener('abort', stop)
  })
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Parses a body that the gateway has already validated as JSON. */
function parseBody(body: Uint8Array | undefined): unknown {
  return JSON.parse(decoder.decode(body))
}
