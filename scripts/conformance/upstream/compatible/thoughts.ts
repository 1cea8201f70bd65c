import { isThoughtCall } from '../proofs.ts'
import { reasoning } from '../scenario.ts'
import { findMessage, listCalls } from './find.ts'
import type { Body, Message } from './request.ts'

/** An answer whose calls come from reasoning, and whose member does not have that reasoning. */
export function findChangedThoughts(
  body: Body,
  member: string,
  isThought: (id: string) => boolean = isThoughtCall,
): number | undefined {
  return findMessage(
    body,
    (message) => callsFromThoughts(message, isThought) && message[member] !== reasoning,
  )
}

export function callsFromThoughts(
  message: Message,
  isThought: (id: string) => boolean = isThoughtCall,
): boolean {
  return message.role === 'assistant' && listCalls(message).some(({ id }) => isThought(id))
}
