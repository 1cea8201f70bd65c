import type { Readable, Reader, Stage } from '../../../src/core/streams.ts'

/** Takes the chunks of one stream synchronously. */
export interface Receiver<Chunk> {
  /** Whether it takes a chunk now. When this turns true, the receiver calls `ask` of its outlet. */
  readonly wants: boolean
  write(chunk: Chunk): void
  /** No chunk follows. */
  end(): void
  /** The stream has failed. */
  abort(reason: unknown): void
}

/** The writable side of a stage: it takes what an outlet gives. */
export interface Inlet<Chunk> {
  receiveFrom(outlet: Outlet<Chunk>): void
}

/**
 * The readable side of Node's streams, and its controller. A chunk passes a whole chain in one call,
 * without a promise, while the end of the chain wants it. Otherwise it waits here.
 */
export abstract class Outlet<Chunk> implements Readable<Chunk> {
  readonly #highWaterMark: number
  #receiver: Receiver<Chunk> | undefined
  #waiting: Chunk[] | undefined
  #state: 'open' | 'closing' | 'over' = 'open'
  #failure: { readonly reason: unknown } | undefined

  constructor(highWaterMark: number) {
    this.#highWaterMark = highWaterMark
  }

  /** Makes the next chunk, or starts making it. */
  protected abstract pull(): void
  /** Ends the source of the chunks. */
  protected abstract stop(reason: unknown): void

  protected get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** With a receiver: 1 while the receiver wants a chunk, else 0. Before: how many chunks may wait. */
  get desiredSize(): number | null {
    if (this.#failure) return null
    if (!this.isOpen) return 0
    const waiting = this.#waiting?.length ?? 0
    if (!this.#receiver) return this.#highWaterMark - waiting
    return waiting === 0 && this.#receiver.wants ? 1 : 0
  }

  enqueue(chunk: Chunk): void {
    if (!this.isOpen) throw new TypeError('the stream has ended')
    const isWanted = this.#receiver?.wants === true && this.#waiting === undefined
    if (isWanted) this.#receiver?.write(chunk)
    else (this.#waiting ??= []).push(chunk)
  }

  close(): void {
    if (!this.isOpen) throw new TypeError('the stream has ended')
    this.#state = 'closing'
    this.#closeWhenTaken()
  }

  error(reason?: unknown): void {
    if (this.#state === 'over') return
    this.#over()
    this.#failure = { reason }
    this.#receiver?.abort(reason)
  }

  /** The receiver wants at least one chunk. */
  ask(): void {
    this.#giveWaiting()
    if (this.#waiting) return
    this.#closeWhenTaken()
    if ((this.desiredSize ?? 0) > 0) this.pull()
  }

  cancel(reason?: unknown): Promise<void> {
    if (this.#state !== 'over') {
      this.#over()
      this.stop(reason)
    }
    return Promise.resolve()
  }

  pipeThrough<Out>({ readable, writable }: Stage<Chunk, Out>): Readable<Out> {
    if (!isInlet<Chunk>(writable)) throw new TypeError('the stage is of another kind of streams')
    writable.receiveFrom(this)
    return readable
  }

  getReader(): Reader<Chunk> {
    const reader = new PromisedReader<Chunk>(this)
    this.sendTo(reader)
    return reader
  }

  /** Sends all chunks to `receiver` from now on, the waiting ones first. */
  sendTo(receiver: Receiver<Chunk>): void {
    if (this.#receiver) throw new TypeError('the stream has a reader already')
    this.#receiver = receiver
    if (this.#failure) receiver.abort(this.#failure.reason)
    else this.ask()
  }

  #giveWaiting(): void {
    while (this.#waiting && this.#receiver?.wants) {
      const chunk = this.#waiting.shift() as Chunk
      if (this.#waiting.length === 0) this.#waiting = undefined
      this.#receiver.write(chunk)
    }
  }

  #closeWhenTaken(): void {
    if (this.#state !== 'closing' || this.#waiting || !this.#receiver) return
    this.#over()
    this.#receiver.end()
  }

  #over(): void {
    this.#state = 'over'
    this.#waiting = undefined
  }
}

function isInlet<Chunk>(writable: object): writable is Inlet<Chunk> {
  return 'receiveFrom' in writable
}

type Result<Chunk> = Awaited<ReturnType<Reader<Chunk>['read']>>

interface Waiting<Chunk> {
  readonly resolve: (result: Result<Chunk>) => void
  readonly reject: (reason: unknown) => void
}

/** A reader that returns a promise for each chunk. */
class PromisedReader<Chunk> implements Reader<Chunk>, Receiver<Chunk> {
  readonly #outlet: Outlet<Chunk>
  #waiting: Waiting<Chunk>[] = []
  #end: 'clean' | { readonly reason: unknown } | undefined

  constructor(outlet: Outlet<Chunk>) {
    this.#outlet = outlet
  }

  read(): Promise<Result<Chunk>> {
    if (this.#end === 'clean') return Promise.resolve({ done: true })
    if (this.#end) return Promise.reject(this.#end.reason)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#outlet.ask()
    })
  }

  cancel(reason?: unknown): Promise<void> {
    this.end()
    return this.#outlet.cancel(reason)
  }

  get wants(): boolean {
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
