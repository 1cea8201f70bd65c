import type { StreamEnding } from '../../core/endpoints.ts'
import type { GatewayError } from '../../core/errors.ts'
import type { UpstreamFailure } from '../../core/failure.ts'
import type { Frame, FrameDecoder } from '../../core/frame.ts'
import type { Millis } from '../../core/ids.ts'
import type { ByteSource, Clock } from '../../core/ports.ts'
import { oneAhead, type Readable, type StreamClasses, unbuffered } from '../../core/streams.ts'
import { type ChainEnd, ClientBytes } from '../../stream/client-bytes.ts'
import { CommitGate, type FailedOpening } from '../../stream/commit-gate.ts'
import { FrameSource } from '../../stream/frame-source.ts'
import { Heartbeat } from '../../stream/heartbeat.ts'
import type { StreamRecorder } from '../../stream/stream-recorder.ts'
import type { StreamWriter } from '../../stream/stream-writer.ts'
import { type StreamEnd, Terminator } from '../../stream/terminator.ts'
import type { UsageTap } from '../../stream/usage-tap.ts'
import type { BufferAccount } from '../../wire/buffers.ts'
import type { CancelScope } from '../../wire/cancel-scope.ts'
import { TimeSlice } from '../../wire/time-slice.ts'

/*
 * The path of a stream, from the upstream to the client:
 * upstream → frames → commit gate → heartbeat → terminator → usage → client.
 */

/** How many bytes a stream may send before its first content. */
const maxBytesBeforeContent = 8 * 1024 * 1024

/** The first half of the path, up to the commit gate: the stream has not sent content yet. */
export interface PendingStream {
  readonly upstream: ByteSource
  readonly frames: Readable<Frame[]>
  /** Resolves to undefined at the first content, or to the failure that came in its place. */
  readonly opened: Promise<FailedOpening | undefined>
}

/** Starts to read a stream. It is read up to its first content even while it has no reader. */
export function openStream(
  upstream: ByteSource,
  decoder: FrameDecoder,
  options: OpenStreamOptions,
): PendingStream {
  const { streams, bufferAccount, failsFiltered, slice } = options
  const { ReadableStream, TransformStream } = streams
  const gate = new CommitGate({
    limit: maxBytesBeforeContent,
    unread: bufferAccount.openCounter(),
    failsFiltered,
  })
  const kept = bufferAccount.openCounter()
  const source = new FrameSource({ bytes: upstream, decoder, kept, slice })
  const frames = new ReadableStream(source, unbuffered).pipeThrough(
    new TransformStream(gate, undefined, oneAhead),
  )
  return { upstream, frames, opened: gate.opened }
}

export interface OpenStreamOptions {
  readonly streams: StreamClasses
  /** Counts the bytes that are held until a frame is complete, or until the first content. */
  readonly bufferAccount: BufferAccount
  /** A stream without content that the vendor's content filter has ended fails. */
  readonly failsFiltered: boolean
  /** Yields between the bytes of a stream that arrives faster than it is translated. */
  readonly slice: TimeSlice
}

export interface ReplyStreamOptions {
  readonly streams: StreamClasses
  readonly tap: UsageTap
  readonly writer: StreamWriter
  readonly recorder: StreamRecorder | undefined
  readonly scope: CancelScope
  readonly clock: Clock
  readonly heartbeat: Millis
  readonly streamEnd: StreamEnding
  /** Converts a failure to the error that the client gets. */
  readonly toError: (failure: UpstreamFailure) => GatewayError
  /** Called once, at the end of the stream. */
  readonly onEnd: (end: StreamEnd) => void
}

/**
 * The second half of the path: a committed stream on its way to the client. It ends once, at the
 * first of: `[DONE]`, a failure, the client's departure, the end of the scope.
 */
export class ReplyStream implements ChainEnd {
  readonly body: Readable<Uint8Array>
  readonly #upstream: ByteSource
  readonly #heartbeat: Heartbeat
  readonly #terminator: Terminator
  #stopListening: () => void = () => {}
  #onEnd: ((end: StreamEnd) => void) | undefined

  constructor({ upstream, frames }: PendingStream, options: ReplyStreamOptions) {
    const { TransformStream } = options.streams
    this.#upstream = upstream
    this.#heartbeat = new Heartbeat(options.clock, options.heartbeat)
    const { streamEnd, tap, writer, recorder, toError, clock, scope } = options
    const slice = new TimeSlice(clock, scope)
    // After the request has ended, what is left of it is written at once.
    const pause = () => slice.pause().catch(() => {})
    this.#terminator = new Terminator({ streamEnd, upstream })
    this.#onEnd = options.onEnd
    const { cutsFailures = false } = writer
    const isCut = () => this.#terminator.outcome?.complete === false
    const bytes = new ClientBytes({
      end: this,
      writer,
      recorder,
      usage: () => tap.final,
      toError,
      pause,
      isCut: cutsFailures ? isCut : undefined,
    })
    this.body = frames
      .pipeThrough(new TransformStream(this.#heartbeat, undefined, oneAhead))
      .pipeThrough(new TransformStream(this.#terminator))
      .pipeThrough(new TransformStream(tap))
      .pipeThrough(new TransformStream(bytes, undefined, cutsFailures ? unbuffered : oneAhead))
    this.#stopListening = options.scope.onEnd((failure) => this.#fail(failure))
  }

  onLast(): void {
    this.#end()
  }

  onCancel(): void {
    this.#fail({ kind: 'client-cancelled' })
  }

  onBroken(failure: UpstreamFailure): void {
    this.#fail(failure)
  }

  #fail(failure: UpstreamFailure): void {
    this.#terminator.fail(failure)
    this.#end()
  }

  #end(): void {
    const { outcome } = this.#terminator
    const onEnd = this.#onEnd
    if (!outcome || !onEnd) return
    this.#onEnd = undefined
    this.#heartbeat.stop()
    this.#stopListening()
    if (!outcome.complete) this.#upstream.cancel()
    onEnd(outcome)
  }
}
