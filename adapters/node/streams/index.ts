import type { StreamClasses } from '../../../src/core/streams.ts'
import { NodeReadableStream } from './readable-stream.ts'
import { NodeTransformStream } from './transform-stream.ts'

export { Outlet, type Receiver } from './outlet.ts'
export { NodeReadableStream }

/** Streams that cost a fraction of the platform's: a chunk passes a whole chain in one call. */
export const nodeStreams: StreamClasses = {
  ReadableStream: NodeReadableStream,
  TransformStream: NodeTransformStream,
}
