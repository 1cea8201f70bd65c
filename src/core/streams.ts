/*
 * The part of the Streams Standard that the gateway uses, so that a host may provide its own classes.
 * The platform's `ReadableStream` and `TransformStream` satisfy these types.
 */

/** A stream of chunks, made on demand, for one reader. */
export interface Readable<Chunk> {
  /** Passes every chunk through `stage`, and returns the output of the stage. */
  pipeThrough<Out>(stage: Stage<Chunk, Out>): Readable<Out>
  getReader(): Reader<Chunk>
  /** Cancels the stream and all stages before it, because its reader has left. */
  cancel(reason?: unknown): Promise<void>
}

export interface Reader<Chunk> {
  read(): Promise<{ done: false; value: Chunk } | { done: true; value?: Chunk | undefined }>
  cancel(reason?: unknown): Promise<void>
}

/** One step of a pipeline: chunks are written on one side and read on the other. */
export interface Stage<In, Out> {
  readonly readable: Readable<Out>
  readonly writable: Writable<In>
}

/** The input of a stage. Only streams of the same host write to it. */
export interface Writable<Chunk> {
  abort(reason?: unknown): Promise<void>
  /** Never set. It carries the type of the chunks. */
  readonly chunk?: (chunk: Chunk) => void
}

/** The source of a `Readable`. */
export interface Source<Chunk> {
  start?(controller: SourceController<Chunk>): void
  /** Called when the reader needs a chunk, and not again before the promise has settled. */
  pull?(controller: SourceController<Chunk>): void | PromiseLike<void>
  cancel?(reason?: unknown): void | PromiseLike<void>
}

export interface SourceController<Chunk> {
  /** How many more chunks the reader wants; null once the stream has failed. */
  readonly desiredSize: number | null
  enqueue(chunk: Chunk): void
  close(): void
  /** Fails the stream, and drops the chunks that are still queued. */
  error(reason?: unknown): void
}

/** The behaviour of a stage. It is synchronous, except at the end; other asynchronous work belongs in a source. */
export interface Transformer<In, Out> {
  start?(controller: StageController<Out>): void
  transform(chunk: In, controller: StageController<Out>): void
  /** Called when the stages before this one have ended cleanly. The stage ends when the promise has settled. */
  flush?(controller: StageController<Out>): void | Promise<void>
  /** Called when the reader has left. Some platforms never call it. */
  cancel?(reason?: unknown): void
}

export interface StageController<Out> {
  readonly desiredSize: number | null
  enqueue(chunk: Out): void
  /** Ends the stream cleanly, and cancels the stages before this one. */
  terminate(): void
}

/** How many chunks may wait for a reader. */
export interface Strategy {
  readonly highWaterMark: number
}

/** The classes from which pipelines are built. */
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

/** For a stream that makes a chunk only when its reader pulls. */
export const unbuffered: Strategy = { highWaterMark: 0 }

/** For a stage that works before it has a reader. */
export const oneAhead: Strategy = { highWaterMark: 1 }
