import { UpstreamFault } from '../../core/failure.ts'
import type { Millis } from '../../core/ids.ts'
import type {
  CancelSignal,
  Clock,
  UpstreamPort,
  UpstreamRequest,
  UpstreamResponse,
} from '../../core/ports.ts'
import type { DemoSettings } from '../../core/provider.ts'
import { BoundedQueue } from '../../wire/bounded-queue.ts'
import { LightAbortController } from '../../wire/light-abort-controller.ts'
import type { DemoAnswer, DemoEvent } from './answer.ts'
import { demoChat } from './chat.ts'
import { demoEmbed } from './embed.ts'
import { demoRerank } from './rerank.ts'

type DemoRoute = (body: unknown, clock: Clock) => DemoAnswer

const routes: Readonly<Record<string, DemoRoute>> = {
  '/v1/chat/completions': demoChat,
  '/v1/embeddings': demoEmbed,
  '/v1/rerank': demoRerank,
}

/** An upstream without a network, with the delays and failures that its settings ask for. */
export function demoUpstream(settings: DemoSettings, clock: Clock): UpstreamPort {
  const fails = spread(settings.failureRate)
  return async (request) => {
    await wait(settings.latency, clock, request.signal)
    const answer: DemoAnswer = fails()
      ? failure
      : (routes[new URL(request.url).pathname] ?? notFound)(parse(request.body), clock)
    return 'events' in answer
      ? streamed(answer.events, settings.tokensPerSecond, clock, request)
      : whole(answer, request)
  }
}

const failure: DemoAnswer = {
  status: 503,
  json: { error: { message: 'the demo provider was told to fail', type: 'server_error' } },
}

const notFound: DemoRoute = () => ({
  status: 404,
  json: { error: { message: 'the demo provider has no such path', type: 'not_found_error' } },
})

/** True for that share of the calls, evenly spread instead of by chance: rehearsals repeat. */
function spread(rate: number): () => boolean {
  let calls = 0
  return () => {
    calls++
    return Math.floor(calls * rate) > Math.floor((calls - 1) * rate)
  }
}

function whole(
  answer: { status: number; json: unknown },
  request: UpstreamRequest,
): UpstreamResponse {
  const body = new BoundedQueue(request.queueLimit, { unread: request.unread })
  body.push(encoder.encode(JSON.stringify(answer.json)))
  body.end()
  return response(answer.status, 'application/json', body)
}

/** Writes the events at the pace asked for; 0 tokens a second is all at once. */
function streamed(
  events: readonly DemoEvent[],
  tokensPerSecond: number,
  clock: Clock,
  { queueLimit, unread, signal }: UpstreamRequest,
): UpstreamResponse {
  // A reader that leaves ends the exchange as the signal does.
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
  // A wait that was ended is the only way to fail, and then nobody reads any more.
  write().catch(() => body.cancel())
  return response(200, 'text/event-stream', body)
}

function response(status: number, type: string, body: BoundedQueue): UpstreamResponse {
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

/** The gateway has checked that it is JSON. */
function parse(body: Uint8Array | undefined): unknown {
  return JSON.parse(decoder.decode(body))
}
