import type { NativeCall } from '../../core/endpoints.ts'
import { cutFromCall } from '../native-cut.ts'
import { isProof } from '../proofs.ts'
import type { PlacedProof } from '../request-proofs.ts'
import type { Item, ResponsesRequest } from './fields.ts'
import { isUnsignedItem } from './reasoning-input.ts'

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
export function cutOwnItems(call: NativeCall, request: ResponsesRequest): NativeCall {
  return cutItems(call, request, isOwnItem)
}

/** True when an item has reasoning that OpenAI cannot have written, as it is plain text. */
export function hasForeignText(request: ResponsesRequest): boolean {
  const { input } = request
  return Array.isArray(input) && input.some((item) => isForeignText(item, request))
}

/** Cuts out all reasoning that OpenAI has neither encrypted nor stored. */
export function cutUnproven(call: NativeCall, request: ResponsesRequest): NativeCall {
  return cutItems(call, request, (item) => isOwnItem(item) || isForeignText(item, request))
}

/** OpenAI finds what it has stored by the id, and never shows more of it than a summary. */
function isForeignText(item: Item, { store }: ResponsesRequest): boolean {
  if (!isUnsignedItem(item)) return false
  const { id, content } = item
  return store === false || typeof id !== 'string' || (Array.isArray(content) && content.length > 0)
}

function cutItems(
  call: NativeCall,
  { input }: ResponsesRequest,
  isCut: (item: Item) => boolean,
): NativeCall {
  const items = Array.isArray(input) ? input : []
  return cutFromCall(
    call,
    items.flatMap((item, index) => (isCut(item) ? [`input.${index}`] : [])),
  )
}

/** True for reasoning that the gateway has encoded. */
export function isOwnItem({ type, encrypted_content: content }: Item): boolean {
  return type === 'reasoning' && isProof(content)
}
