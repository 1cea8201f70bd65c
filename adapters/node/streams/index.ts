import type { StreamClasses } from '../../../src/core/streams.ts'
import { NodeReadableStream } from './readable-stream.ts'
import { NodeTransformStream } from './transform-stream.ts'

export { SyncReadable, type SyncSink } from './sync-readable.ts'
export { NodeReadableStream }

/** Streams that cost a fraction of the platform's: a chunk passes a whole chain in one call. */
export const nodeStreams: StreamClasses = {
  ReadableStream: NodeReadableStream,
  TransformStream: NodeTransformStream,
}
