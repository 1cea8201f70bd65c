import type { GatewayError } from '../../core/errors.ts'
import type { Millis } from '../../core/ids.ts'
import { asHeaderList, type Clock } from '../../core/ports.ts'
import { type Reply, streamHeaders } from '../../core/reply.ts'
import { oneAhead, type Readable, unbuffered } from '../../core/streams.ts'
import { asGatewayError } from '../../core/unexpected.ts'
import { CutEnd } from '../../stream/cut-end.ts'
import type { AdmittedRequest } from '../request/admitted.ts'
import type { RequestContext } from '../request/context.ts'
import type { DoorCall, EarlyWriter } from './door.ts'
import { EarlyBody, type EarlyOutcome } from './early-body.ts'

export interface EarlyReplyOptions {
  readonly call: DoorCall
  readonly context: RequestContext
  readonly admitted: AdmittedRequest
  /** How long the client waits for its headers after the request has arrived. */
  readonly after: Millis
  /** Serves the request; the writer of the early bytes is there once these have been sent. */
  readonly serve: (early: () => EarlyWriter | undefined) => Promise<Reply>
}

/**
 * Serves a streamed request whose client gets its headers and a sign of life in time, although no link has sent content.
 * Nothing of an answer has been sent then, so retries and fallbacks go on; what fails is written into the stream.
 */
export async function replyInTime({
  call,
  context,
  admitted,
  after,
  serve,
}: EarlyReplyOptions): Promise<Reply> {
  const { clock, arrived } = context
  const early: { writer?: EarlyWriter } = {}
  const serving = serve(() => early.writer)
  const begin = () => {
    early.writer = call.createEarlyWriter({ requestId: context.id, model: call.model, clock })
  }
  await settleOr(serving, begin, { clock, wait: arrived + after - clock.elapsed() })
  const { writer } = early
  if (!writer) return serving
  admitted.markEarly()
  return {
    status: 200,
    headers: asHeaderList([...streamHeaders(call.streamType), ...admitted.headers]),
    body: openBody(serving, { writer, context, admitted }),
  }
}

interface WaitOptions {
  readonly clock: Clock
  readonly wait: Millis
}

/** Waits until a promise settles, and calls `act` when it has not in time. Rejects as either of them does. */
async function settleOr(
  promise: Promise<unknown>,
  act: () => void,
  { clock, wait }: WaitOptions,
): Promise<void> {
  let stop: () => void = () => {}
  const over = new Promise<void>((resolve, reject) => {
    const timer = clock.schedule(Math.max(0, wait), () => {
      try {
        act()
        resolve()
      } catch (error) {
        reject(error)
      }
    })
    stop = () => timer.cancel()
  })
  try {
    await Promise.race([promise, over])
  } finally {
    stop()
  }
}

interface BodyOptions {
  readonly writer: EarlyWriter
  readonly context: RequestContext
  readonly admitted: AdmittedRequest
}

function openBody(
  serving: Promise<Reply>,
  { writer, context, admitted }: BodyOptions,
): Readable<Uint8Array> {
  const { clock, scope, snapshot, streams, log, id } = context
  const fail = (error: unknown): EarlyOutcome => {
    const known: GatewayError = asGatewayError(error, log, id)
    // First: the client must not see the end of a request that is not accounted.
    admitted.fail(known)
    return { kind: 'failed', last: writer.fail(known) }
  }
  const outcome = serving.then(
    // A stream that was asked for is served as one.
    ({ body }): EarlyOutcome => ({ kind: 'served', body: body as Readable<Uint8Array> }),
    fail,
  )
  const early = new EarlyBody({
    first: writer.begin?.() ?? writer.ping(),
    ping: () => writer.ping(),
    clock,
    heartbeat: snapshot.heartbeat,
    outcome,
    onLeave: () => scope.end({ kind: 'client-cancelled' }),
  })
  const { ReadableStream, TransformStream } = streams
  const body = new ReadableStream(early, oneAhead)
  const isCut = () => early.isBroken || (early.hasFailed && writer.cutsFailures === true)
  return body.pipeThrough(new TransformStream(new CutEnd(isCut), undefined, unbuffered))
}
