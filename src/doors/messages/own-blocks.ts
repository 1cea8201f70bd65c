import type { NativeCall } from '../../core/endpoints.ts'
import { cutFromCall } from '../native-cut.ts'
import type { CountRequest } from './schema.ts'
import { isOwnBlock } from './thinking.ts'

type Messages = CountRequest['messages']
type Message = Messages[number]

/** True if a message has thinking that the gateway has signed for another vendor. */
export function hasOwnBlocks(messages: Messages): boolean {
  return messages.some(({ content }) => typeof content !== 'string' && content.some(isOwnBlock))
}

/** Cuts that thinking out of the messages, because Claude refuses it. All other bytes stay. */
export function cutOwnBlocks(call: NativeCall, messages: Messages): NativeCall {
  const paths = messages.flatMap((message, index) => listOwnBlocks(message, `messages.${index}`))
  return cutFromCall(call, paths)
}

/** Lists the blocks to cut; the message itself if nothing else is in it. */
function listOwnBlocks({ content }: Message, path: string): string[] {
  if (typeof content === 'string') return []
  const own = content.flatMap((block, at) => (isOwnBlock(block) ? [`${path}.content.${at}`] : []))
  return own.length > 0 && own.length === content.length ? [path] : own
}
