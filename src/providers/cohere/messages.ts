import { mapInSteps, type Steps } from '../../core/steps.ts'
import {
  type CanonicalMessage,
  type CanonicalPart,
  joinText,
  unsupportedPart,
} from '../canonical/messages.ts'
import type { PastCall } from '../canonical/past-call.ts'
import { placeholderText } from '../canonical/placeholder.ts'
import { readProviderContent } from '../canonical/provider-content.ts'
import { isKnownDetail } from '../translation/media-uses.ts'
import { contentRules, toOwnMessage } from './content.ts'

/**
 * Translates the messages in order, without merging any. Names are left out. A conversation in which nothing is
 * left but instructions gets a user's text: "message must be at least 1 token long".
 * https://github.com/kwaroran/Risuai/issues/504
 */
export function* toCohereMessages(messages: readonly CanonicalMessage[]): Steps<object[]> {
  const written = yield* mapInSteps(messages, toMessage)
  yield
  if (!messages.every(isSilent)) return written
  const instructions = written.filter((_, index) => messages[index]?.role === 'system')
  return [...instructions, { role: 'user', content: placeholderText }]
}

/** True for instructions, and for a user's message without content. */
function isSilent(message: CanonicalMessage): boolean {
  return message.role === 'system' || (message.role === 'user' && toUserContent(message) === '')
}

function toMessage(message: CanonicalMessage): object {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: joinText(message) }
    case 'user':
      return { role: 'user', content: toUserContent(message) }
    case 'assistant': {
      const own = readProviderContent(message, contentRules)
      if (own) return toOwnMessage(own)
      return message.calls.length > 0 ? toAssistantCalls(message) : toAssistantText(message)
    }
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: joinText(message) }
    default:
      return message satisfies never
  }
}

type AssistantMessage = CanonicalMessage & { role: 'assistant' }

/** The reasoning of an earlier answer is left out: Cohere has no field for it. */
function toAssistantText(message: AssistantMessage): object {
  return {
    role: 'assistant',
    ...(message.content !== undefined && { content: joinText(message) }),
  }
}

/**
 * Puts text and reasoning into `tool_plan`. Cohere answers 400 to `content` beside calls, with a
 * message that refers to the plan.
 */
function toAssistantCalls(message: AssistantMessage): object {
  const plan = [message.reasoning, joinText(message)].filter(Boolean)
  return {
    role: 'assistant',
    ...(plan.length > 0 && { tool_plan: plan.join('\n') }),
    tool_calls: message.calls.map(toCohereToolCall),
  }
}

/** Copies the vendor's own fields only: clients return calls with further ones. */
function toCohereToolCall({ id, name, arguments: text }: PastCall): object {
  return { id, type: 'function', function: { name, arguments: text.trim() === '' ? '{}' : text } }
}

function toUserContent(message: CanonicalMessage): string | object[] {
  const { content } = message
  if (content === undefined || typeof content === 'string') return content ?? ''
  const blocks = content.flatMap((part) => toUserBlocks(part, message))
  return blocks.length > 0 ? blocks : ''
}

function toUserBlocks(part: CanonicalPart, message: CanonicalMessage): object[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }]
    case 'image': {
      const { url, detail } = part
      const known = isKnownDetail(detail) && { detail }
      return [{ type: 'image_url', image_url: { url, ...known } }]
    }
    case 'audio':
    case 'file':
    case 'guarded':
    case 'other':
      throw unsupportedPart(part, 'cohere', message)
    default:
      return part satisfies never
  }
}
