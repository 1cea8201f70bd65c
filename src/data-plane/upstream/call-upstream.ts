import type {
  DialectRequest,
  HeaderReader,
  RequestHeaders,
  UpstreamError,
} from '../../core/endpoints.ts'
import { toFailure, type UpstreamFailure } from '../../core/failure.ts'
import type { Bytes, Millis } from '../../core/ids.ts'
import type { Clock, UpstreamRequest, UpstreamResponse } from '../../core/ports.ts'
import type { Provider } from '../../core/provider.ts'
import type { Authorizer } from '../../core/provider-kind.ts'
import { version } from '../../core/version.ts'
import { explainRefusal } from '../../providers/index.ts'
import type { Attempt, CallResult } from '../../resilience/index.ts'
import type { CallTrace, RequestTrace } from '../../traces/index.ts'
import { readExcerpt, readUpstreamBody } from '../../wire/body.ts'
import type { BufferAccount } from '../../wire/buffers.ts'
import type { CancelScope } from '../../wire/cancel-scope.ts'
import { tryParseJson } from '../../wire/json/parse.ts'
import { closeTornJson } from '../../wire/json/torn.ts'
import { LightAbortController } from '../../wire/light-abort-controller.ts'
import { parseRetryAfter } from '../../wire/retry-after.ts'
import { redactFailure } from './redact-failure.ts'

/** What every upstream call of one request needs. */
export interface CallDeps {
  readonly clock: Clock
  /** Counts the bytes that have arrived and are still unread. */
  readonly bufferAccount: BufferAccount
  readonly trace: RequestTrace
}

/** One upstream call of any capability. */
export interface UpstreamCall<T> {
  readonly attempt: Attempt
  readonly deps: CallDeps
  /** Writes the request in the link's dialect; a promise where that takes long. */
  request(): DialectRequest | Promise<DialectRequest>
  readonly streamed: boolean
  /** The longest answer that is not streamed. */
  readonly maxAnswerBytes: Bytes
  /** Reads an answer with a status of 2xx. */
  read(response: UpstreamResponse, header: HeaderReader): Promise<CallResult<T>>
  /** Parses the body of any other status. */
  parseError(status: number, body: string, header: HeaderReader): UpstreamError
}

/** How many bytes of a stream may wait for a slow client. */
const streamQueueBytes = 8 * 1024 * 1024
/** The reader of a whole answer finds that it is too long: the client is not slow. */
const maxPacketBytes = 1024 * 1024
/**
 * Only the beginning of an error body is read, for a short time: its status is known already. Servers that repeat
 * the request in it write as much as the request has.
 */
const errorExcerptBytes = 1_000_000
const errorBodyTimeout: Millis = 2000

/** Makes one upstream call. A failure, or the end of the scope, frees everything that the call holds. */
export async function callUpstream<T>(call: UpstreamCall<T>): Promise<CallResult<T>> {
  const { attempt, deps } = call
  const { scope, link, credential } = attempt
  if (!credential) {
    return failed({ kind: 'no-credential', message: describeMissing(link.provider) })
  }
  const trace = deps.trace.startCall(attempt)
  const cancel = new LightAbortController()
  const stopListening = scope.onEnd(() => cancel.abort())
  const resend = new OneResend(attempt.mayResend)
  const { authorize, secret } = credential
  const mayResend = () => resend.take()
  const control: Control = { authorize, secret, signal: cancel, mayResend, trace }
  let result: CallResult<T>
  try {
    result = await sendAndRead(call, control)
    if (!result.ok) {
      const failure = await explainFailure(result.failure, call)
      result = { ...result, failure: redactFailure(failure, link.provider) }
    }
  } catch (error) {
    result = failed(scope.ended ?? redactFailure(toFailure(error), link.provider))
  }
  stopListening()
  if (!result.ok) cancel.abort()
  if (resend.isTaken) result = { ...result, resent: true }
  trace.end(result)
  return result
}

/** The request is written again only if the words of the vendor say something. */
async function explainFailure<T>(
  failure: UpstreamFailure,
  call: UpstreamCall<T>,
): Promise<UpstreamFailure> {
  let isNeeded = false
  const explained = explainRefusal(failure, () => {
    isNeeded = true
    return undefined
  })
  if (!isNeeded) return explained
  const sent = await call.request()
  return explainRefusal(failure, () => sent)
}

function describeMissing({ credentials }: Provider): string {
  const messages = credentials.flatMap((one) => (one.kind === 'missing' ? one.message : []))
  return messages.join('; ')
}

/**
 * The permission to send a request once more. It has no reference to the call: the port keeps it
 * until the end of the answer, and would keep the request body in memory with it.
 */
class OneResend {
  readonly #isAllowed: boolean
  isTaken = false

  constructor(isAllowed: boolean) {
    this.#isAllowed = isAllowed
  }

  /** True on the first call, where a resend is allowed. */
  take(): boolean {
    if (this.isTaken || !this.#isAllowed) return false
    this.isTaken = true
    return true
  }
}

export interface ReadAnswerOptions {
  readonly scope: CancelScope
  readonly bufferAccount: BufferAccount
  readonly maxBytes: Bytes
}

/** Reads the whole body of an answer. */
export async function readAnswer(
  response: UpstreamResponse,
  { scope, bufferAccount, maxBytes }: ReadAnswerOptions,
): Promise<Uint8Array> {
  const unread = bufferAccount.openCounter()
  try {
    return await scope.race(readUpstreamBody(response.body, { maxBytes, unread }))
  } finally {
    unread.release()
  }
}

export function failed(failure: UpstreamFailure): { ok: false; failure: UpstreamFailure } {
  return { ok: false, failure }
}

async function sendAndRead<T>(call: UpstreamCall<T>, control: Control): Promise<CallResult<T>> {
  const writing = call.request()
  const request = writing instanceof Promise ? await writing : writing
  const authorizing = authorizeRequest(call, request, control)
  const authorized = authorizing instanceof Promise ? await authorizing : authorizing
  let response = await send(call, authorized)
  // A token may be revoked before it expires. The call with a fresh one is still the same attempt.
  if (response.status === 401 && control.authorize.renew?.(authorized.credential)) {
    response.body.drain()
    response = await send(call, await authorizeRequest(call, request, control))
  }
  control.trace.markAnswered(response.status)
  const header: HeaderReader = (name) => response.header(name)
  if (isAnswer(response.status)) return await call.read(response, header)
  return failed(await readError(call, response, header))
}

/** 202 is not an answer: the work has only begun, and the gateway does not poll for its result. */
function isAnswer(status: number): boolean {
  return status >= 200 && status < 300 && status !== 202
}

/** The credential of a request, how the port may resend it, the signal that ends it, and its trace. */
interface Control extends Required<Pick<UpstreamRequest, 'signal' | 'mayResend'>> {
  readonly authorize: Authorizer
  readonly secret: string | undefined
  readonly trace: CallTrace
}

interface AuthorizedRequest {
  readonly request: DialectRequest
  readonly credential: RequestHeaders
  readonly control: Control
}

/** Adds the credential to a request. Those of some vendors must be waited for. */
function authorizeRequest<T>(
  { attempt: { scope } }: UpstreamCall<T>,
  request: DialectRequest,
  control: Control,
): AuthorizedRequest | Promise<AuthorizedRequest> {
  const { authorize, secret } = control
  if (request.keyHeader !== undefined) {
    const credential: RequestHeaders = secret === undefined ? {} : { [request.keyHeader]: secret }
    return { request, credential, control }
  }
  const add = (completed: DialectRequest) => {
    const headers = authorize(completed)
    const toAuthorized = (credential: RequestHeaders) => ({
      request: completed,
      credential,
      control,
    })
    return headers instanceof Promise
      ? scope.race(headers).then(toAuthorized)
      : toAuthorized(headers)
  }
  return authorize.complete ? scope.race(authorize.complete(request)).then(add) : add(request)
}

function send<T>(
  call: UpstreamCall<T>,
  { request, credential, control: { signal, mayResend, trace } }: AuthorizedRequest,
): Promise<UpstreamResponse> {
  const { attempt, deps, streamed, maxAnswerBytes } = call
  const { scope, link } = attempt
  const { provider } = link
  const headers = trace.propagate(request.url, {
    'content-type': 'application/json',
    accept: streamed ? 'text/event-stream' : 'application/json',
    'accept-encoding': 'identity',
    'user-agent': `model-gateway/${version}`,
    ...request.headers,
    ...credential,
  })
  const pending = provider.send({
    method: 'POST',
    url: request.url,
    headers,
    body: request.body,
    connectTimeout: provider.connectTimeout,
    dedicatedPool: provider.dedicatedPool,
    queueLimit: streamed ? streamQueueBytes : maxAnswerBytes + maxPacketBytes,
    unread: deps.bufferAccount.openCounter(),
    mayResend,
    signal,
  })
  // A response that arrives after the scope has ended must not keep its connection.
  return scope.race(pending, (late) => late.body.cancel())
}

async function readError<T>(
  call: UpstreamCall<T>,
  response: UpstreamResponse,
  header: HeaderReader,
): Promise<UpstreamFailure> {
  const { attempt, deps } = call
  const { scope } = attempt
  const readScope = scope.open()
  readScope.onEnd(() => response.body.cancel())
  readScope.endAfter(errorBodyTimeout, { kind: 'timeout', limit: 'read' })
  const unread = deps.bufferAccount.openCounter()
  const reading = scope.race(readExcerpt(response.body, { maxBytes: errorExcerptBytes, unread }))
  const body = await reading.finally(() => {
    readScope.close()
    unread.release()
  })
  const error = call.parseError(response.status, completeJson(body), header)
  return {
    kind: 'status',
    status: error.status,
    message: error.message,
    retryAfter: parseRetryAfter(header, deps.clock.now()) ?? error.retryAfter,
    vendor: { ...error.vendor, status: response.status },
  }
}

/** Closes the JSON of an error that was cut off. Returns any other text as it is. */
function completeJson(body: string): string {
  if (!/^\s*[{[]/.test(body)) return body
  const closed = closeTornJson(body)
  return closed !== body && tryParseJson(closed) !== undefined ? closed : body
}
