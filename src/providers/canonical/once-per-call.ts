import type { ChatCall, ChatRequest } from '../../core/chat.ts'

/**
 * A pure reading of a call, done once however many links and attempts ask for it. It is kept as long as
 * the parsed request that it was read from.
 */
export function memoizePerCall<Reading extends object>(
  read: (call: ChatCall) => Reading,
): (call: ChatCall) => Reading {
  const known = new WeakMap<ChatRequest, Reading>()
  return (call) => {
    const { request } = call
    const before = known.get(request)
    if (before) return before
    const reading = read(call)
    known.set(request, reading)
    return reading
  }
}
