import type { GatewayError } from '../../core/errors.ts'
import type { Millis } from '../../core/ids.ts'
import { asHeaderList } from '../../core/ports.ts'
import { type Reply, streamHeaders } from '../../core/reply.ts'
import { oneAhead, type Readable, unbuffered } from '../../core/streams.ts'
import { asGatewayError } from '../../core/unexpected.ts'
import { CutBody } from '../../stream/cut-body.ts'
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
  let writer: EarlyWriter | undefined
  const serving = serve(() => writer)
  const reply = await waitAtMost(serving, (end) =>
    clock.schedule(Math.max(0, arrived + after - clock.elapsed()), () => {
      const { model } = call
      writer = call.createEarlyWriter({ requestId: context.id, model, clock })
      end()
    }),
  )
  if (reply) return reply
  const { streamType } = call
  admitted.markEarly()
  return {
    status: 200,
    headers: asHeaderList([...streamHeaders(streamType), ...admitted.headers]),
    body: openBody(serving, { writer: writer as unknown as EarlyWriter, context, admitted }),
  }
}

/** Resolves to undefined when the time is over before the promise has settled. */
async function waitAtMost<Value>(
  promise: Promise<Value>,
  schedule: (end: () => void) => { cancel(): void },
): Promise<Value | undefined> {
  let end: () => void = () => {}
  const over = new Promise<undefined>((resolve) => {
    end = () => resolve(undefined)
  })
  const timer = schedule(end)
  try {
    return await Promise.race([promise, over])
  } finally {
    timer.cancel()
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
  const { ReadableStream } = streams
  const body = new ReadableStream(early, oneAhead)
  const isCut = () => early.isBroken || (early.hasFailed && writer.cutsFailures === true)
  return new ReadableStream(new CutBody(body.getReader(), isCut), unbuffered)
}
