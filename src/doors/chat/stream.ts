import { newCompletionId } from '../../core/ids.ts'
import type { WriterContext } from '../../data-plane/index.ts'
import { unrequestedChoices } from '../../stream/chunk-writer.ts'
import type { StreamWriter } from '../../stream/stream-writer.ts'
import { type ChunkShape, ChunkStreamWriter } from '../chunk-stream.ts'

/** Creates the writer of a stream of chat completion chunks. */
export function createChatWriter(context: WriterContext, wantsUsageChunk: boolean): StreamWriter {
  return new ChunkStreamWriter({ shape, context, wantsUsageChunk })
}

const shape: ChunkShape = {
  object: 'chat.completion.chunk',
  newId: newCompletionId,
  unrequested: unrequestedChoices,
}
