import type { NativeCall } from '../../core/endpoints.ts'
import type { JsonObject } from '../../wire/json/parse.ts'
import { cutFromCall } from '../native-cut.ts'
import type { PlacedProof } from '../request-proofs.ts'
import type { CountRequest } from './schema.ts'
import { isOwnBlock, isUnsignedBlock, readProofText } from './thinking.ts'

type Messages = CountRequest['messages']

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
  return cutBlocks(call, messages, isOwnBlock)
}

/** True when a message has thinking without a signature, which models of other vendors write. */
export function hasUnsigned(messages: Messages): boolean {
  return messages.some(
    ({ content }) => typeof content !== 'string' && content.some(isUnsignedBlock),
  )
}

/** Cuts out all thinking that Claude has not signed. */
export function cutUnproven(call: NativeCall, messages: Messages): NativeCall {
  return cutBlocks(call, messages, (block) => isOwnBlock(block) || isUnsignedBlock(block))
}

function cutBlocks(
  call: NativeCall,
  messages: Messages,
  isCut: (block: JsonObject) => boolean,
): NativeCall {
  const paths = messages.flatMap(({ content }, index) => {
    if (typeof content === 'string') return []
    const path = `messages.${index}`
    const cut = content.flatMap((block, at) => (isCut(block) ? [`${path}.content.${at}`] : []))
    // The message itself if nothing else is in it.
    return cut.length > 0 && cut.length === content.length ? [path] : cut
  })
  return cutFromCall(call, paths)
}
