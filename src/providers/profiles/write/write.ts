import type { ChatMessage, ChatRequest } from '../../../core/chat.ts'
import type { Profile } from '../../../core/profile.ts'
import { mapInSteps, type Steps } from '../../../core/steps.ts'
import { isObject, type JsonObject } from '../../../wire/json/parse.ts'
import { createToolNames, sameNames, type ToolNames } from '../../../wire/tool-names.ts'
import { writeFormat } from './format.ts'
import { addReasoning, readHistory, type TargetModel } from './history.ts'
import { useNineLetterIds } from './ids.ts'
import {
  isEmptyContent,
  joinContents,
  listCalls,
  toPlainContent,
  type WrittenMessage,
} from './message.ts'
import { orderMessages } from './order.ts'
import { writeParameters } from './parameters.ts'
import { writeThinking } from './thinking.ts'
import { writeTools } from './tools.ts'

/** A request as an upstream of the OpenAI format wants it. */
export interface WrittenRequest {
  readonly body: JsonObject
  /** The paths in the chat request of what the upstream does not take. */
  readonly dropped: readonly string[]
  /** Restores the client's names in the answer. Holds nothing else of the request. */
  readonly names: ToolNames
}

/** What a request is written for. */
export interface WriteTarget {
  readonly profile: Profile
  readonly recipient: TargetModel
}

/**
 * Writes a chat request that the gateway has made from a request of another API. The order of its members is
 * fixed, so that equal prefixes of conversations stay equal for the cache of the upstream.
 */
export function* writeRequest(request: ChatRequest, target: WriteTarget): Steps<WrittenRequest> {
  const { profile } = target
  const thinking = writeThinking(request, profile)
  const { isThinking } = thinking
  const names = yield* nameTools(request, profile)
  const tools = writeTools(request, { profile, names, isThinking })
  yield
  const hasTools = 'tools' in tools.fields
  const format = writeFormat(request, { profile, isThinking, hasTools })
  const parameters = writeParameters(request, { profile, isThinking })
  const { instruction } = format
  const messages = yield* writeMessages(request.messages, { target, names, instruction })
  const body = { model: request.model, messages }
  Object.assign(body, parameters.fields, tools.fields, format.fields, thinking.fields)
  return {
    body: mergeBodies(body, profile.extraBody),
    dropped: [...parameters.dropped, ...tools.dropped, ...format.dropped, ...thinking.dropped],
    names,
  }
}

const validName = /^[a-zA-Z0-9_-]{1,64}$/

/** Returns the names that the tools of a request have at the upstream. */
function* nameTools(request: ChatRequest, { reservedToolNames }: Profile): Steps<ToolNames> {
  const names: string[] = []
  const add = ({ function: called }: JsonObject) => {
    if (isObject(called) && typeof called['name'] === 'string') names.push(called['name'])
  }
  request.tools?.forEach(add)
  for (const message of request.messages) listCalls(message).forEach(add)
  if (names.length === 0) return sameNames
  return yield* createToolNames(
    names,
    (name) => validName.test(name) && !reservedToolNames.includes(name),
  )
}

interface MessageContext {
  readonly target: WriteTarget
  readonly names: ToolNames
  /** What the format of the answer adds to the instructions. */
  readonly instruction: string | undefined
}

function* writeMessages(
  messages: readonly ChatMessage[],
  { target, names, instruction }: MessageContext,
): Steps<readonly ChatMessage[]> {
  const { profile } = target
  const history = readHistory(messages, target)
  yield
  const read = yield* mapInSteps(history, (written) => toUpstream(written, { profile, names }))
  yield
  const ordered = orderMessages(addInstruction(read, instruction), profile)
  const named = profile.toolCallIds === 'nine' ? useNineLetterIds(ordered) : ordered
  yield
  return yield* mapInSteps(named, (written) => {
    const { message } = addReasoning(fillContent(written, profile), profile)
    return message
  })
}

/**
 * Writes the parts of one message: plain content, the upstream's names of tools, no members unknown to it. Most
 * messages are a plain text, and are not copied.
 */
function toUpstream(
  written: WrittenMessage,
  { profile, names }: { readonly profile: Profile; readonly names: ToolNames },
): WrittenMessage {
  if (isPlainText(written.message)) return written
  const { provider_content: _, is_error: __, ...message } = written.message
  const content = toPlainContent(profile.cacheControl ? message.content : unmark(message.content))
  const calls = listCalls(message).map((call) => renameCall(call, names))
  return {
    ...written,
    message: { ...message, content, ...(calls.length > 0 && { tool_calls: calls }) },
  }
}

function isPlainText(message: ChatMessage): boolean {
  if (typeof message.content !== 'string' || message.tool_calls) return false
  return !('provider_content' in message || 'is_error' in message)
}

function unmark(content: ChatMessage['content']): ChatMessage['content'] {
  if (!Array.isArray(content)) return content
  return content.map((given) => {
    const { cache_control: _, ...part } = given
    return part
  })
}

function renameCall(call: JsonObject, names: ToolNames): JsonObject {
  const called = call['function']
  if (!isObject(called) || typeof called['name'] !== 'string') return call
  return { ...call, function: { ...called, name: names.shorten(called['name']) } }
}

function addInstruction(
  messages: readonly WrittenMessage[],
  instruction: string | undefined,
): readonly WrittenMessage[] {
  if (instruction === undefined) return messages
  const [first] = messages
  if (first?.role !== 'system') {
    return [{ role: 'system', message: { role: 'system', content: instruction } }, ...messages]
  }
  const content = joinContents(first.message.content, instruction)
  return [{ ...first, message: { ...first.message, content } }, ...messages.slice(1)]
}

/** Some upstreams refuse members that are null. */
function fillContent(written: WrittenMessage, { emptyContent }: Profile): WrittenMessage {
  const { role, message } = written
  if (role !== 'assistant' || !isEmptyContent(message.content)) return written
  return { ...written, message: { ...message, content: emptyContent === 'null' ? null : '' } }
}

/** Adds members, and those of members that are objects on both sides. The added ones win. */
function mergeBodies(body: JsonObject, added: JsonObject): JsonObject {
  const members = Object.entries(added)
  if (members.length === 0) return body
  const merged: Record<string, unknown> = { ...body }
  for (const [name, value] of members) {
    const own = merged[name]
    merged[name] = isObject(own) && isObject(value) ? mergeBodies(own, value) : value
  }
  return merged
}
