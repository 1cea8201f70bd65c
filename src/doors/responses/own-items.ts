import type { NativeCall } from '../../core/endpoints.ts'
import { cutFromCall } from '../native-cut.ts'
import { isProof } from '../proofs.ts'
import type { PlacedProof } from '../request-proofs.ts'
import type { ResponsesRequest } from './fields.ts'
import type { Item } from './input.ts'

/** Lists the reasoning that the gateway has encoded for another vendor. */
export function listOwnProofs({ input }: ResponsesRequest): readonly PlacedProof[] {
  if (!Array.isArray(input)) return []
  return input.flatMap((item, index) =>
    isOwnItem(item)
      ? [{ text: String(item['encrypted_content']), path: `input.${index}.encrypted_content` }]
      : [],
  )
}

/** Cuts those items out of the input, because OpenAI refuses their content. All other bytes stay. */
export function cutOwnItems(call: NativeCall, { input }: ResponsesRequest): NativeCall {
  const items = Array.isArray(input) ? input : []
  return cutFromCall(
    call,
    items.flatMap((item, index) => (isOwnItem(item) ? [`input.${index}`] : [])),
  )
}

/** True for reasoning that the gateway has encoded. */
export function isOwnItem({ type, encrypted_content: content }: Item): boolean {
  return type === 'reasoning' && isProof(content)
}
