import type { ChatMessage } from '../../../core/chat.ts'
import type { Profile } from '../../../core/profile.ts'
import {
  isEmptyContent,
  joinAllContents,
  joinContents,
  listCalls,
  readId,
  type WrittenMessage,
} from './message.ts'

/**
 * Orders messages as the upstream takes them: results behind their calls, system messages in front, one
 * message where neighbours have one role. Nothing is lost; what has no place becomes user text.
 */
export function orderMessages(
  messages: readonly WrittenMessage[],
  profile: Profile,
): readonly WrittenMessage[] {
  let ordered = placeResults(messages.filter(hasSubstance))
  if (profile.systemMessages === 'first') ordered = gatherSystem(ordered, profile)
  if (profile.mergeSameRole) ordered = mergeNeighbours(ordered)
  if (profile.systemMessages === 'first') ordered = ensureUser(ordered)
  return profile.userAfterTool === 'assistant' ? separateResults(ordered) : ordered
}

/** No upstream takes an assistant message without content and calls. */
function hasSubstance({ role, message }: WrittenMessage): boolean {
  return role !== 'assistant' || !isEmptyContent(message.content) || listCalls(message).length > 0
}

/**
 * Puts the results directly behind their calls, one for each call, and whatever was between behind them. A
 * result without its call becomes user text.
 */
function placeResults(messages: readonly WrittenMessage[]): readonly WrittenMessage[] {
  const ordered: WrittenMessage[] = []
  let open: OpenCalls | undefined
  for (const written of messages) {
    if (written.role === 'tool') {
      if (!open?.addResult(written)) (open?.later ?? ordered).push(toUserText(written))
    } else if (written.role === 'assistant') {
      if (open) ordered.push(...open.close())
      ordered.push(written)
      const calls = listCalls(written.message)
      open = calls.length > 0 ? new OpenCalls(calls.map(({ id }) => readId(id))) : undefined
    } else {
      ;(open?.later ?? ordered).push(written)
    }
  }
  if (open) ordered.push(...open.close())
  return ordered
}

/** The calls of one message, and what has come since. */
class OpenCalls {
  /** The messages that were not results. */
  readonly later: WrittenMessage[] = []
  readonly #calls: readonly AnsweredCall[]
  /** The calls without a result by their ids, the last one first. Some servers give several calls one id. */
  readonly #open = new Map<string, AnsweredCall[]>()

  constructor(ids: readonly string[]) {
    this.#calls = ids.map((id) => ({ id, result: undefined }))
    for (const call of this.#calls.toReversed()) {
      const same = this.#open.get(call.id)
      if (same) same.push(call)
      else this.#open.set(call.id, [call])
    }
  }

  /** Returns false for a result of another call, or a second one. */
  addResult(written: WrittenMessage): boolean {
    const call = this.#open.get(readId(written.message['tool_call_id']))?.pop()
    if (!call) return false
    call.result = written
    return true
  }

  close(): WrittenMessage[] {
    const results = this.#calls.map(({ id, result }) => result ?? toMissingResult(id))
    return [...results, ...this.later]
  }
}

interface AnsweredCall {
  readonly id: string
  result: WrittenMessage | undefined
}

function toMissingResult(id: string): WrittenMessage {
  const message = { role: 'tool', tool_call_id: id, content: 'This call has no result.' }
  return { role: 'tool', message }
}

function toUserText({ message }: WrittenMessage): WrittenMessage {
  return toUser(joinContents('A result of an earlier tool call:', message.content))
}

function toUser(content: ChatMessage['content']): WrittenMessage {
  return { role: 'user', message: { role: 'user', content } }
}

/** Joins the leading system messages; the later ones become user text in their place, or join the first. */
function gatherSystem(
  messages: readonly WrittenMessage[],
  { lateSystem }: Profile,
): readonly WrittenMessage[] {
  if (!messages.some(({ role }) => role === 'system')) return messages
  const firstOther = messages.findIndex(({ role }) => role !== 'system')
  const lead = firstOther < 0 ? messages.length : firstOther
  const isGathered = (index: number, role: string) =>
    role === 'system' && (index < lead || lateSystem === 'merge')
  const system = messages.filter(({ role }, index) => isGathered(index, role))
  const others = messages
    .filter(({ role }, index) => !isGathered(index, role))
    .map((written) => (written.role === 'system' ? toUser(written.message.content) : written))
  const content = joinAllContents(system.map(({ message }) => message.content))
  if (isEmptyContent(content)) return others
  return [{ role: 'system', message: { role: 'system', content } }, ...others]
}

/** Merges each run at once: message by message, a run would be copied as often as it is long. */
function mergeNeighbours(messages: readonly WrittenMessage[]): readonly WrittenMessage[] {
  if (!messages.some((written, at) => continues(messages[at - 1], written))) return messages
  const runs: Run[] = []
  for (const written of messages) {
    const run = runs.at(-1)
    if (run && continues(run[0], written)) run.push(written)
    else runs.push([written])
  }
  return runs.map(mergeRun)
}

function continues(previous: WrittenMessage | undefined, { role }: WrittenMessage): boolean {
  return role !== 'tool' && previous?.role === role
}

/** Neighbours of one role. */
type Run = [WrittenMessage, ...WrittenMessage[]]

/** Calls are followed by their results, so only the last message can have any. */
function mergeRun(run: Run): WrittenMessage {
  const [first, ...others] = run
  if (others.length === 0) return first
  const members = others.reduce<ChatMessage>(
    (joined, { message }) => ({ ...joined, ...message }),
    first.message,
  )
  const content = joinAllContents(run.map(({ message }) => message.content))
  const reasoning = run.flatMap((written) => written.reasoning ?? [])
  return { role: first.role, message: { ...members, content }, reasoning }
}

/** Several templates refuse a conversation without a user message. */
function ensureUser(messages: readonly WrittenMessage[]): readonly WrittenMessage[] {
  if (messages.some(({ role }) => role === 'user')) return messages
  const lead = messages[0]?.role === 'system' ? 1 : 0
  return [...messages.slice(0, lead), toUser('Continue.'), ...messages.slice(lead)]
}

/** Puts an assistant message between a result and a user message. */
function separateResults(messages: readonly WrittenMessage[]): readonly WrittenMessage[] {
  return messages.flatMap((written, index) =>
    written.role === 'user' && messages[index - 1]?.role === 'tool'
      ? [{ role: 'assistant', message: { role: 'assistant', content: 'Done.' } } as const, written]
      : [written],
  )
}
