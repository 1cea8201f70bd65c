import type { NativeCall } from '../../core/endpoints.ts'
import { cutFromCall } from '../native-cut.ts'
import type { PlacedProof } from '../request-proofs.ts'
import type { CountRequest } from './schema.ts'
import { isOwnBlock, readProofText } from './thinking.ts'

type Messages = CountRequest['messages']
type Message = Messages[number]

/** Lists the proofs in thinking that the gateway has signed for another vendor. */
export function listOwnProofs(messages: Messages): readonly PlacedProof[] {
  return messages.flatMap(({ content }, index) => {
    if (typeof content === 'string') return []
    return content.flatMap((block, at) => {
      const text = readProofText(block)
      const member = block.type === 'thinking' ? 'signature' : 'data'
      return text === undefined ? [] : [{ text, path: `messages.${index}.content.${at}.${member}` }]
    })
  })
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
