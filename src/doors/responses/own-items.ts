import type { NativeCall } from '../../core/endpoints.ts'
import { cutFromCall } from '../native-cut.ts'
import { isProof } from '../proofs.ts'
import type { ResponsesRequest } from './fields.ts'
import type { Item } from './input.ts'

/** True if an item has reasoning that the gateway has encoded for another vendor. */
export function hasOwnItems({ input }: ResponsesRequest): boolean {
  return Array.isArray(input) && input.some(isOwnItem)
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
