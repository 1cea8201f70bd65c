import type { ChatCall } from '../core/chat.ts'
import { GatewayError } from '../core/errors.ts'
import { failureOf, type UpstreamFailure, UpstreamFault } from '../core/failure.ts'
import type { Frame, FrameDecoder } from '../core/frame.ts'
import type { ByteSource, Clock, UpstreamResponse } from '../core/ports.ts'
import type {
  ChatAnswer,
  ChatEndpoint,
  DialectRequest,
  Model,
  Provider,
  RequestHeaders,
} from '../core/provider.ts'
import { version } from '../core/version.ts'
import type { Attempt } from '../resilience/index.ts'
import { CommitGate } from '../stream/commit-gate.ts'
import { collect, excerpt } from '../wire/body.ts'
import type { Scope } from '../wire/deadline.ts'
import { maskSecrets } from '../wire/mask.ts'
import { retryAfter } from '../wire/retry-after.ts'

/** A stream that has shown its first content, with everything it takes to go on. */
export interface LiveStream {
  readonly source: ByteSource
  readonly decoder: FrameDecoder
  /** The frames up to and including the first content. */
  readonly frames: Frame[]
}

export type ChatReply =
  | { readonly kind: 'answer'; readonly answer: ChatAnswer }
  | { readonly kind: 'stream'; readonly live: LiveStream }

/** The longest answer that is not streamed, and how much of a stream may wait for a slow client. */
const longestAnswer = 64 * 1024 * 1024
const streamQueue = 8 * 1024 * 1024
/** Of an error answer only the beginning is read. */
const errorExcerpt = 64 * 1024

export interface ChatAttempt {
  readonly call: ChatCall
  readonly link: Model
  readonly scope: Scope
  readonly clock: Clock
}

/**
 * One upstream call: up to the whole answer, or up to the first content of a stream. The scope may
 * end it at any point; then, as after every failure, nothing of it is left behind.
 */
export async function attemptChat({
  call,
  link,
  scope,
  clock,
}: ChatAttempt): Promise<Attempt<ChatReply>> {
  // The route was chosen for its chat capability, so there is an endpoint.
  const endpoint = link.chat as ChatEndpoint
  const { provider } = link
  if (provider.credential.kind === 'missing') {
    return failed({ kind: 'no-credential', message: provider.credential.message })
  }
  const abort = new AbortController()
  const stopListening = scope.onEnd(() => abort.abort())
  try {
    const request = endpoint.request(call)
    const credential = await provider.authorize(request)
    const response = await send({ provider, request, credential, call, scope, abort })
    if (response.status < 200 || response.status >= 300) {
      return failed(await readRefusal({ response, endpoint, provider, scope, clock }))
    }
    const reply = call.stream
      ? await openStream(response, endpoint.frames(call), scope)
      : await readWhole(response, endpoint, call, scope)
    if (!reply.ok) abort.abort()
    return reply
  } catch (error) {
    abort.abort()
    // The request cannot be said in this dialect: no fault of the upstream.
    if (error instanceof GatewayError) throw error
    return failed(scope.ended ?? failureOf(error))
  } finally {
    stopListening()
  }
}

interface Sending {
  readonly provider: Provider
  readonly request: DialectRequest
  readonly credential: RequestHeaders
  readonly call: ChatCall
  readonly scope: Scope
  readonly abort: AbortController
}

function send(sending: Sending): Promise<UpstreamResponse> {
  const { provider, request, credential, call, scope, abort } = sending
  const pending = provider.send({
    method: 'POST',
    url: request.url,
    headers: {
      'content-type': 'application/json',
      accept: call.stream ? 'text/event-stream' : 'application/json',
      'accept-encoding': 'identity',
      'user-agent': `model-gateway/${version}`,
      ...request.headers,
      ...credential,
    },
    body: request.body,
    connectTimeout: provider.connectTimeout,
    ownClient: provider.ownClient,
    queueLimit: call.stream ? streamQueue : longestAnswer,
    signal: abort.signal,
  })
  return scope.race(pending).catch((error: unknown) => {
    // A response that comes after its time must not keep its connection.
    pending.then(
      (late) => late.body.cancel(),
      () => {},
    )
    throw error
  })
}

interface Refusal {
  readonly response: UpstreamResponse
  readonly endpoint: ChatEndpoint
  readonly provider: Provider
  readonly scope: Scope
  readonly clock: Clock
}

async function readRefusal(refusal: Refusal): Promise<UpstreamFailure> {
  const { response, endpoint, provider, scope, clock } = refusal
  const body = await scope.race(excerpt(response.body, errorExcerpt))
  const { status, message } = endpoint.refusal(response.status, body)
  return {
    kind: 'status',
    status,
    message: masked(message, provider),
    retryAfter: retryAfter((name) => response.header(name), clock.now()),
  }
}

async function readWhole(
  response: UpstreamResponse,
  endpoint: ChatEndpoint,
  call: ChatCall,
  scope: Scope,
): Promise<Attempt<ChatReply>> {
  const body = await scope.race(collect(response.body, longestAnswer))
  const reading = endpoint.answer(body, call)
  return reading.ok
    ? { ok: true, value: { kind: 'answer', answer: reading.answer } }
    : failed(reading.failure)
}

/** Peeks until the first content, so that a stream which fails before it can be replaced. */
async function openStream(
  response: UpstreamResponse,
  decoder: FrameDecoder,
  scope: Scope,
): Promise<Attempt<ChatReply>> {
  const type = response.header('content-type') ?? ''
  if (!/^text\/event-stream\b/i.test(type)) {
    return failed({
      kind: 'malformed',
      detail: 'the answer to a streamed request is no event stream',
    })
  }
  const source = response.body
  const gate = new CommitGate()
  for (;;) {
    const bytes = await scope.race(source.read()).catch(endOfOpened)
    let verdict = gate.push(bytes === undefined ? decoder.end() : decoder.push(bytes))
    if (verdict.state === 'held' && bytes === undefined) verdict = gate.end()
    switch (verdict.state) {
      case 'failed':
        return failed(verdict.failure)
      case 'open':
        return {
          ok: true,
          value: { kind: 'stream', live: { source, decoder, frames: verdict.frames } },
        }
    }
  }
}

/** An opened stream that breaks off before its content has simply ended too early. */
function endOfOpened(error: unknown): never {
  const failure = failureOf(error)
  throw new UpstreamFault(failure.kind === 'network' ? { kind: 'closed-early' } : failure)
}

function failed(failure: UpstreamFailure): { ok: false; failure: UpstreamFailure } {
  return { ok: false, failure }
}

function masked(message: string, { credential }: Provider): string {
  return maskSecrets(message, credential.kind === 'secret' ? credential.value : undefined)
}
