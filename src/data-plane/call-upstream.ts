import { failureOf, type UpstreamFailure } from '../core/failure.ts'
import type { Clock, UpstreamRequest, UpstreamResponse } from '../core/ports.ts'
import type {
  DialectRequest,
  HeaderReader,
  RequestHeaders,
  UpstreamError,
} from '../core/provider.ts'
import { version } from '../core/version.ts'
import type { AttemptContext, CallResult } from '../resilience/index.ts'
import { collect, excerpt } from '../wire/body.ts'
import type { Share } from '../wire/buffers.ts'
import type { CancelScope } from '../wire/cancel-scope.ts'
import { LightAbortController } from '../wire/light-abort-controller.ts'
import { retryAfter } from '../wire/retry-after.ts'
import { redactFailure } from './redact-failure.ts'

/** What the calls of one request are made with. */
export interface CallSetting {
  readonly clock: Clock
  /** Counts what waits unread. */
  readonly share: Share
}

/** One upstream call of any capability. */
export interface UpstreamCall<T> extends AttemptContext, CallSetting {
  /** The request in the link's dialect. */
  readonly request: () => DialectRequest
  readonly streamed: boolean
  /** Bytes of the longest answer, where it is not the usual one. */
  readonly longest?: number
  /** Reads an answer with a status of 2xx. */
  readonly read: (response: UpstreamResponse, header: HeaderReader) => Promise<CallResult<T>>
  /** Judges any other status by its body. */
  readonly refusal: (status: number, body: string, header: HeaderReader) => UpstreamError
}

/** The longest answer that is not streamed, and how much of a stream may wait for a slow client. */
const longestAnswer = 64 * 1024 * 1024
const streamQueue = 8 * 1024 * 1024
/** Of an error answer only the beginning is read, and only for a while: its status has come. */
const errorExcerpt = 64 * 1024
const errorPatience = 2000

/** Makes one upstream call. After a failure, as after the scope's end, nothing of it is left behind. */
export async function callUpstream<T>(call: UpstreamCall<T>): Promise<CallResult<T>> {
  const { credential } = call.link.provider
  if (credential.kind === 'missing') {
    return failed({ kind: 'no-credential', message: credential.message })
  }
  const { scope, link } = call
  const cancel = new LightAbortController()
  const stopListening = scope.onEnd(() => cancel.abort())
  const resend = new OneResend(call.mayResend)
  const control: Control = { signal: cancel, mayResend: () => resend.take() }
  let result: CallResult<T>
  try {
    result = await exchange(call, control)
    if (!result.ok) result = failed(redactFailure(result.failure, link.provider))
  } catch (error) {
    result = failed(scope.ended ?? redactFailure(failureOf(error), link.provider))
  }
  stopListening()
  if (!result.ok) cancel.abort()
  return resend.isTaken ? { ...result, resent: true } : result
}

/**
 * The permission to send a request once more. It does not know the call: whoever has it to the end
 * of the answer would hold on to the body too.
 */
class OneResend {
  readonly #isAllowed: boolean
  isTaken = false

  constructor(isAllowed: boolean) {
    this.#isAllowed = isAllowed
  }

  /** True the first time, where it is allowed. */
  take(): boolean {
    if (this.isTaken || !this.#isAllowed) return false
    this.isTaken = true
    return true
  }
}

/** The whole body of an answer. */
export async function wholeBody(
  response: UpstreamResponse,
  { scope, share }: { readonly scope: CancelScope; readonly share: Share },
): Promise<Uint8Array> {
  const unread = share.hold()
  try {
    return await scope.race(collect(response.body, { limit: longestAnswer, unread }))
  } finally {
    unread.release()
  }
}

export function failed(failure: UpstreamFailure): { ok: false; failure: UpstreamFailure } {
  return { ok: false, failure }
}

async function exchange<T>(call: UpstreamCall<T>, control: Control): Promise<CallResult<T>> {
  const request = call.request()
  let sent = await sendWithCredential(call, request, control)
  // A token may be withdrawn before its time. With a fresh one this is still the same attempt.
  if (sent.response.status === 401 && call.link.provider.authorize.renew?.(sent.credential)) {
    sent.response.body.drain()
    sent = await sendWithCredential(call, request, control)
  }
  const { response } = sent
  const header: HeaderReader = (name) => response.header(name)
  if (isAnswer(response.status)) return call.read(response, header)
  const failure = await readRefusal(call, response, header)
  return failed(failure)
}

/** 202 is no answer: the work has only begun, and would have to be asked for again and again. */
function isAnswer(status: number): boolean {
  return status >= 200 && status < 300 && status !== 202
}

/** What the port may do with a request, and until when. */
type Control = Required<Pick<UpstreamRequest, 'signal' | 'mayResend'>>

interface Sent {
  readonly response: UpstreamResponse
  readonly credential: RequestHeaders
}

async function sendWithCredential<T>(
  call: UpstreamCall<T>,
  request: DialectRequest,
  control: Control,
): Promise<Sent> {
  const { authorize } = call.link.provider
  const { complete } = authorize
  const whole = complete ? await call.scope.race(complete(request)) : request
  const given = authorize(whole)
  const credential = given instanceof Promise ? await call.scope.race(given) : given
  return { response: await send(call, { request: whole, credential, control }), credential }
}

interface Sending {
  readonly request: DialectRequest
  readonly credential: RequestHeaders
  readonly control: Control
}

function send<T>(
  { link: { provider }, scope, share, streamed, longest = longestAnswer }: UpstreamCall<T>,
  { request, credential, control: { signal, mayResend } }: Sending,
): Promise<UpstreamResponse> {
  const pending = provider.send({
    method: 'POST',
    url: request.url,
    headers: {
      'content-type': 'application/json',
      accept: streamed ? 'text/event-stream' : 'application/json',
      'accept-encoding': 'identity',
      'user-agent': `model-gateway/${version}`,
      ...request.headers,
      ...credential,
    },
    body: request.body,
    connectTimeout: provider.connectTimeout,
    dedicatedPool: provider.dedicatedPool,
    queueLimit: streamed ? streamQueue : longest,
    unread: share.hold(),
    mayResend,
    signal,
  })
  // A response that comes after its time must not keep its connection.
  return scope.race(pending, (late) => late.body.cancel())
}

async function readRefusal<T>(
  { scope, clock, refusal }: UpstreamCall<T>,
  response: UpstreamResponse,
  header: HeaderReader,
): Promise<UpstreamFailure> {
  const patience = scope.open()
  patience.onEnd(() => response.body.cancel())
  patience.endAfter(errorPatience, { kind: 'timeout', limit: 'read' })
  const reading = scope.race(excerpt(response.body, errorExcerpt))
  const body = await reading.finally(() => patience.close())
  const told = refusal(response.status, body, header)
  return {
    kind: 'status',
    status: told.status,
    message: told.message,
    retryAfter: retryAfter(header, clock.now()) ?? told.retryAfter,
    vendor: { ...told.vendor, status: response.status },
  }
}
