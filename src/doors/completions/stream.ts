import { newTextCompletionId } from '../../core/ids.ts'
import type { WriterContext } from '../../data-plane/index.ts'
import { unrequestedTexts } from '../../stream/chunk-writer.ts'
import type { StreamWriter } from '../../stream/stream-writer.ts'
import { type ChunkShape, ChunkStreamWriter } from '../chunk-stream.ts'

/** Creates the writer of a stream that the upstream has written in this API. */
export function createCompletionWriter(
  context: WriterContext,
  wantsUsageChunk: boolean,
): StreamWriter {
  return new ChunkStreamWriter({ shape, context, wantsUsageChunk })
}

const shape: ChunkShape = {
  object: 'text_completion',
  newId: newTextCompletionId,
  unrequested: unrequestedTexts,
}
