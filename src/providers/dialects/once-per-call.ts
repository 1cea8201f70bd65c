import type { ChatCall } from '../../core/chat.ts'

/** A pure reading of a call, done once however many links and attempts ask for it. */
export function oncePerCall<Reading extends object>(
  read: (call: ChatCall) => Reading,
): (call: ChatCall) => Reading {
  const known = new WeakMap<ChatCall, Reading>()
  return (call) => {
    const before = known.get(call)
    if (before) return before
    const reading = read(call)
    known.set(call, reading)
    return reading
  }
}
