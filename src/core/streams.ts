/*
 * Streams as the gateway uses them: the part of the Streams Standard that its chains need, so that a
 * host may bring classes of its own. The platform's `ReadableStream` and `TransformStream` fit.
 */

/** A source of chunks, made on demand, for one reader. */
export interface Readable<Chunk> {
  /** Passes every chunk through `stage`. Returns what comes out of it. */
  pipeThrough<Out>(stage: Stage<Chunk, Out>): Readable<Out>
  getReader(): Reader<Chunk>
  /** Ends everything upstream of the reader, which has left. */
  cancel(reason?: unknown): Promise<void>
}

export interface Reader<Chunk> {
  read(): Promise<{ done: false; value: Chunk } | { done: true; value?: Chunk | undefined }>
  cancel(reason?: unknown): Promise<void>
}

/** One step of a chain. It reads chunks on one side and gives changed ones on the other. */
export interface Stage<In, Out> {
  readonly readable: Readable<Out>
  readonly writable: Writable<In>
}

/** Where a chain is attached to a stage. Only streams of the same host write to it. */
export interface Writable<Chunk> {
  abort(reason?: unknown): Promise<void>
  /** Never set. It keeps the kind of chunk in the type. */
  readonly chunk?: (chunk: Chunk) => void
}

/** Where the chunks of a `Readable` come from. */
export interface Source<Chunk> {
  start?(controller: SourceController<Chunk>): void
  /** Called when a chunk is wanted; not again before the promise has settled. */
  pull?(controller: SourceController<Chunk>): void | PromiseLike<void>
  cancel?(reason?: unknown): void | PromiseLike<void>
}

export interface SourceController<Chunk> {
  /** How many more chunks are wanted; null once the stream has failed. */
  readonly desiredSize: number | null
  enqueue(chunk: Chunk): void
  close(): void
  /** Ends the stream with a failure, and drops the chunks that are still waiting. */
  error(reason?: unknown): void
}

/** What a stage does, synchronously. Work that takes time belongs in a source. */
export interface Transformer<In, Out> {
  start?(controller: StageController<Out>): void
  transform(chunk: In, controller: StageController<Out>): void
  /** The chain has ended cleanly before this stage. */
  flush?(controller: StageController<Out>): void
  /** The reader has left. Some platforms do not call it. */
  cancel?(reason?: unknown): void
}

export interface StageController<Out> {
  readonly desiredSize: number | null
  enqueue(chunk: Out): void
  /** Ends the stream cleanly, and cancels the chain before the stage. */
  terminate(): void
}

/** In chunks: how many may wait for a reader. */
export interface Strategy {
  readonly highWaterMark: number
}

/** The classes that chains are made of. */
export interface StreamClasses {
  readonly ReadableStream: new <Chunk>(
    source: Source<Chunk>,
    strategy?: Strategy,
  ) => Readable<Chunk>
  readonly TransformStream: new <In, Out>(
    transformer: Transformer<In, Out>,
    writable?: Strategy,
    readable?: Strategy,
  ) => Stage<In, Out>
}

/** For a stream that makes a chunk only when its reader asks for one. */
export const unbuffered: Strategy = { highWaterMark: 0 }

/** For a stage that works before it has a reader. */
export const oneAhead: Strategy = { highWaterMark: 1 }
