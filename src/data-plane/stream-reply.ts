import { failureOf, type UpstreamFailure } from '../core/failure.ts'
import type { Frame } from '../core/frame.ts'
import type { Millis } from '../core/ids.ts'
import type { BodySource, Clock } from '../core/ports.ts'
import { Heartbeat, ping } from '../stream/heartbeat.ts'
import { mergeBytes } from '../stream/merge.ts'
import { type StreamEnd, Terminator } from '../stream/terminator.ts'
import type { UsageTap } from '../stream/usage-tap.ts'
import type { Hold, Share } from '../wire/buffers.ts'
import type { Scope } from '../wire/deadline.ts'
import type { LiveStream } from './chat-attempt.ts'

export interface StreamReplyOptions {
  readonly live: LiveStream
  readonly doneOptional: boolean
  readonly tap: UsageTap
  readonly scope: Scope
  readonly share: Share
  readonly clock: Clock
  readonly heartbeat: Millis
  /** The terminal frame that tells a client of a failure. */
  readonly terminalFrame: (failure: UpstreamFailure) => Uint8Array
  /** Called once, at the end of the stream. */
  readonly onEnd: (end: StreamEnd) => void
}

type Controller = ReadableStreamDefaultController<Uint8Array>

/**
 * A committed stream on its way to the client, as the source of its body. Bytes move
 * when the client asks for them: upstream → decoder → terminator → usage tap → client. It ends
 * once, by whichever comes first: `[DONE]`, a failure, the client's leaving, the scope's end.
 */
export class StreamReply implements BodySource {
  readonly #options: StreamReplyOptions
  readonly #terminator: Terminator
  readonly #stopListening: () => void
  /** Bytes that the decoder has kept: the beginning of something. */
  readonly #kept: Hold
  #heartbeat: Heartbeat | undefined
  #controller: Controller | undefined
  /** The client is waiting for bytes; otherwise a ping would only pile up. */
  #wanted = false
  #ended = false
  #terminalFrame: Uint8Array | undefined

  constructor(options: StreamReplyOptions) {
    this.#options = options
    this.#terminator = new Terminator(options.doneOptional)
    this.#kept = options.share.hold()
    this.#stopListening = options.scope.onEnd((failure) => this.#fail(failure))
  }

  start(controller: Controller): void {
    const { clock, heartbeat } = this.#options
    this.#controller = controller
    if (this.#ended) return this.#close()
    this.#heartbeat = new Heartbeat(clock, heartbeat, () => {
      if (this.#wanted) controller.enqueue(ping)
    })
    this.#pass(this.#options.live.frames)
  }

  async pull(): Promise<void> {
    const { source, decoder } = this.#options.live
    this.#wanted = true
    try {
      for (let wrote = false; !wrote && !this.#ended; ) {
        const bytes = await source.read()
        if (this.#ended) return
        wrote = this.#pass(bytes === undefined ? decoder.end() : decoder.push(bytes))
        if (wrote) this.#kept.release()
        else this.#kept.add(bytes?.length ?? 0)
        if (bytes === undefined && !this.#ended) this.#pass(this.#terminator.end())
      }
    } catch (error) {
      if (!this.#ended) this.#pass(decoder.brokenOff?.() ?? [])
      this.#fail(failureOf(error))
    } finally {
      this.#wanted = false
    }
  }

  /** The reader has left. */
  cancel(): void {
    this.#end({ complete: false, failure: { kind: 'client-cancelled' } })
  }

  /** Hands frames on, and ends the stream when they end it. True when something was written. */
  #pass(frames: Frame[]): boolean {
    const bytes = mergeBytes(this.#options.tap.push(this.#terminator.push(frames)))
    if (bytes.length > 0) {
      this.#controller?.enqueue(bytes)
      this.#heartbeat?.wrote()
    }
    const { outcome } = this.#terminator
    if (outcome?.complete === true) this.#complete(outcome)
    else if (outcome?.complete === false) this.#fail(outcome.failure)
    return bytes.length > 0
  }

  #complete(end: StreamEnd): void {
    if (this.#ended) return
    this.#options.live.source.drain()
    this.#end(end)
    this.#close()
  }

  #fail(failure: UpstreamFailure): void {
    if (this.#ended) return
    if (failure.kind !== 'client-cancelled') {
      this.#terminalFrame = this.#options.terminalFrame(failure)
    }
    this.#end({ complete: false, failure })
    this.#close()
  }

  /** A failure may come before the client's side of the stream has been opened. */
  #close(): void {
    if (this.#terminalFrame) this.#controller?.enqueue(this.#terminalFrame)
    this.#controller?.close()
  }

  #end(end: StreamEnd): void {
    if (this.#ended) return
    this.#ended = true
    this.#heartbeat?.stop()
    this.#stopListening()
    if (!end.complete) this.#options.live.source.cancel()
    this.#options.onEnd(end)
  }
}
