import type { ChatMessage } from '../core/chat.ts'
import type { ReturnedProof } from './proofs.ts'

/** A message of the chat API that a door has written, and where it comes from in the client's request. */
export interface MadeMessage {
  readonly message: ChatMessage
  /** The dotted path of the client's message, item or block, or of the first of several. */
  readonly path: string
  /** The paths of the parts of its content. A content that is one text may come from several. */
  readonly parts: readonly string[]
  /** The paths of its tool calls. */
  readonly calls: readonly string[]
  /** What the client returned of the reasoning that led to it, if the message does not have it yet. */
  readonly proofs?: readonly ReturnedProof[]
}
