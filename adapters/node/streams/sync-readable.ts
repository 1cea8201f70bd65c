import type { Readable, Reader, Stage } from '../../../src/core/streams.ts'

/** A destination that takes the chunks of one stream synchronously. */
export interface SyncSink<Chunk> {
  /** True if the sink takes a chunk now. When it becomes true, the sink calls `resume` of its source. */
  readonly isReady: boolean
  write(chunk: Chunk): void
  /** No chunk follows. */
  end(): void
  /** The stream has failed. */
  abort(reason: unknown): void
}

/** The writable side of a stage, which reads from a `SyncReadable`. */
export interface SyncWritable<Chunk> {
  readFrom(source: SyncReadable<Chunk>): void
}

/**
 * The readable side of a stream, and its controller. While the end of the chain is ready, a chunk passes
 * the whole chain in one call, without a promise. Otherwise chunks are buffered here.
 */
export abstract class SyncReadable<Chunk> implements Readable<Chunk> {
  readonly #highWaterMark: number
  #sink: SyncSink<Chunk> | undefined
  #buffered: Chunk[] | undefined
  #state: 'open' | 'closing' | 'over' = 'open'
  #failure: { readonly reason: unknown } | undefined

  constructor(highWaterMark: number) {
    this.#highWaterMark = highWaterMark
  }

  /** Produces the next chunk, now or later. */
  protected abstract pull(): void
  /** Cancels the source of the chunks. */
  protected abstract cancelSource(reason: unknown): void

  protected get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** With a sink: 1 while it is ready, else 0. Without one: how many more chunks may be buffered. */
  get desiredSize(): number | null {
    if (this.#failure) return null
    if (!this.isOpen) return 0
    const waiting = this.#buffered?.length ?? 0
    if (!this.#sink) return this.#highWaterMark - waiting
    return waiting === 0 && this.#sink.isReady ? 1 : 0
  }

  enqueue(chunk: Chunk): void {
    if (!this.isOpen) throw new TypeError('the stream has ended')
    const isWanted = this.#sink?.isReady === true && this.#buffered === undefined
    if (isWanted) this.#sink?.write(chunk)
    else (this.#buffered ??= []).push(chunk)
  }

  close(): void {
    if (!this.isOpen) throw new TypeError('the stream has ended')
    this.#state = 'closing'
    this.#closeWhenFlushed()
  }

  error(reason?: unknown): void {
    if (this.#state === 'over') return
    this.#finish()
    this.#failure = { reason }
    this.#sink?.abort(reason)
  }

  /** Called by the sink when it is ready for at least one chunk. */
  resume(): void {
    this.#flushBuffered()
    if (this.#buffered) return
    this.#closeWhenFlushed()
    if ((this.desiredSize ?? 0) > 0) this.pull()
  }

  cancel(reason?: unknown): Promise<void> {
    if (this.#state !== 'over') {
      this.#finish()
      this.cancelSource(reason)
    }
    return Promise.resolve()
  }

  pipeThrough<Out>({ readable, writable }: Stage<Chunk, Out>): Readable<Out> {
    if (!isSyncWritable<Chunk>(writable))
      throw new TypeError('the stage belongs to another stream implementation')
    writable.readFrom(this)
    return readable
  }

  getReader(): Reader<Chunk> {
    const reader = new PromiseReader<Chunk>(this)
    this.sendTo(reader)
    return reader
  }

  /** Sends all chunks to `sink` from now on, the buffered ones first. */
  sendTo(sink: SyncSink<Chunk>): void {
    if (this.#sink) throw new TypeError('the stream already has a reader')
    this.#sink = sink
    if (this.#failure) sink.abort(this.#failure.reason)
    else this.resume()
  }

  #flushBuffered(): void {
    while (this.#buffered && this.#sink?.isReady) {
      const chunk = this.#buffered.shift() as Chunk
      if (this.#buffered.length === 0) this.#buffered = undefined
      this.#sink.write(chunk)
    }
  }

  #closeWhenFlushed(): void {
    if (this.#state !== 'closing' || this.#buffered || !this.#sink) return
    this.#finish()
    this.#sink.end()
  }

  #finish(): void {
    this.#state = 'over'
    this.#buffered = undefined
  }
}

function isSyncWritable<Chunk>(writable: object): writable is SyncWritable<Chunk> {
  return 'readFrom' in writable
}

type Result<Chunk> = Awaited<ReturnType<Reader<Chunk>['read']>>

interface Waiting<Chunk> {
  readonly resolve: (result: Result<Chunk>) => void
  readonly reject: (reason: unknown) => void
}

/** A reader that returns a promise for each chunk. */
class PromiseReader<Chunk> implements Reader<Chunk>, SyncSink<Chunk> {
  readonly #source: SyncReadable<Chunk>
  #waiting: Waiting<Chunk>[] = []
  #end: 'clean' | { readonly reason: unknown } | undefined

  constructor(source: SyncReadable<Chunk>) {
    this.#source = source
  }

  read(): Promise<Result<Chunk>> {
    if (this.#end === 'clean') return Promise.resolve({ done: true })
    if (this.#end) return Promise.reject(this.#end.reason)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#source.resume()
    })
  }

  cancel(reason?: unknown): Promise<void> {
    this.end()
    return this.#source.cancel(reason)
  }

  get isReady(): boolean {
    return this.#waiting.length > 0
  }

  write(value: Chunk): void {
    this.#waiting.shift()?.resolve({ done: false, value })
  }

  end(): void {
    this.#end ??= 'clean'
    for (const { resolve } of this.#waiting.splice(0)) resolve({ done: true })
  }

  abort(reason: unknown): void {
    this.#end ??= { reason }
    for (const { reject } of this.#waiting.splice(0)) reject(reason)
  }
}
