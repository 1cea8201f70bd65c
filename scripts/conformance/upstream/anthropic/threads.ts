import { check, Refusal } from '../refusal.ts'
import type { Message, MessagesRequest } from './request.ts'

/** A conversation that the vendor keeps, so that a client sends only what is new. */
type Thread = Pick<MessagesRequest, 'messages' | 'system' | 'tools'>

/** By the id of the last answer. */
const threads = new Map<string, Thread>()

/** Completes a request that continues a thread. */
export function continueThread(request: MessagesRequest): MessagesRequest {
  const { thread, messages, system, tools } = request
  if (thread?.type !== 'continue') return request
  check(!system && !tools, 'thread: a continued thread has its own system and tools')
  const kept = threads.get(thread.previous_message_id)
  const details = { error_code: 'thread_not_found' }
  if (!kept) throw new Refusal(404, 'no thread was found', { details })
  return { ...request, ...kept, messages: [...kept.messages, ...messages] }
}

/** Keeps the thread of a request, with its answer. */
export function keepThread(request: MessagesRequest, answer: KeptAnswer): void {
  const { thread, messages, system, tools } = request
  if (!thread) return
  const { id, content } = answer
  threads.set(id, { system, tools, messages: [...messages, { role: 'assistant', content }] })
}

interface KeptAnswer {
  readonly id: string
  readonly content: Extract<Message, { role: 'assistant' }>['content']
}
