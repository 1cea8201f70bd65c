import { mapInSteps, type Steps } from '../../core/steps.ts'
import type { CanonicalMessage, PastAnswer } from '../canonical/messages.ts'
import { placeholderText } from '../canonical/placeholder.ts'
import { type PastBlock, readProviderContent } from '../canonical/provider-content.ts'
import {
  type BlockOrMark,
  CacheMark,
  type ClaudeBlock,
  placeMarks,
  toMarkedBlocks,
} from '../claude/cache-marks.ts'
import type { ClaudeModel } from '../claude/models.ts'
import { readThinkingBlocks } from '../claude/thinking-blocks.ts'
import { alternateTurns, type Turn, type TurnRules } from '../claude/turns.ts'
import { contentParts, isMarked, isThinking, markRules, textParts } from './blocks.ts'
import { contentRules } from './content.ts'
import { RequestToolIds, toToolResult, toToolUse } from './tools.ts'

/** The fields of the request body that hold the conversation. */
export interface AnthropicConversation {
  readonly system: string | readonly ClaudeBlock[] | undefined
  readonly messages: readonly AnthropicMessage[]
}

interface AnthropicMessage {
  readonly role: Turn['role']
  /** A string if the client wrote a string and nothing was added to it. */
  readonly content: string | readonly ClaudeBlock[]
}

/** Translates a conversation. */
export function* toAnthropicMessages(
  messages: readonly CanonicalMessage[],
  model: ClaudeModel,
): Steps<AnthropicConversation> {
  const ids = new RequestToolIds()
  const drafts = yield* mapInSteps(messages, (message) => toDraft(message, ids))
  yield
  const { instructions, conversation } = separateInstructions(drafts, model)
  const lists = [
    instructions.flatMap(({ blocks }) => blocks),
    ...conversation.map(({ blocks }) => blocks),
  ]
  const [system = [], ...contents] = placeMarks(lists, markRules)
  yield
  const turns = conversation.map(({ role, isText }, index) => ({
    role,
    isText,
    content: contents[index] ?? [],
  }))
  return {
    system: toSystem(system),
    messages: alternateTurns(turns, turnRules).map(toMessage),
  }
}

interface Separated {
  /** The drafts that are gathered in `system`. */
  readonly instructions: readonly Draft[]
  readonly conversation: readonly Draft[]
}

/**
 * Separates the instructions from the conversation. Newer models accept them in their place, so that the
 * vendor's cache of everything before stays valid, but only after a user, and last or before an assistant.
 * All others are gathered in `system`.
 * https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
 */
function separateInstructions(
  drafts: readonly Draft[],
  { takesSystemTurns }: ClaudeModel,
): Separated {
  const placed = takesSystemTurns ? findPlaced(drafts) : new Set<Draft>()
  const isGathered = (draft: Draft) => draft.role === 'system' && !placed.has(draft)
  return {
    instructions: drafts.filter(isGathered),
    conversation: drafts.filter((draft) => !isGathered(draft)),
  }
}

/** Finds the instructions that may stay in their place. */
function findPlaced(drafts: readonly Draft[]): ReadonlySet<Draft> {
  const placed: Draft[] = []
  let waiting: Draft[] = []
  let before: Draft['role'] | undefined
  for (const draft of drafts) {
    if (draft.blocks.every((item) => item instanceof CacheMark)) continue
    if (draft.role === 'system') waiting.push(draft)
    else {
      if (before === 'user' && draft.role === 'assistant') placed.push(...waiting)
      waiting = []
      before = draft.role
    }
  }
  if (before === 'user') placed.push(...waiting)
  return new Set(placed)
}

/** Joins the texts into one string, unless one carries a cache mark. */
function toSystem(blocks: readonly ClaudeBlock[]): AnthropicConversation['system'] {
  if (blocks.length === 0) return undefined
  return blocks.some(isMarked) ? blocks : blocks.map((block) => block['text']).join('\n')
}

/** A translated message before its marks are placed. */
interface Draft {
  readonly role: Turn['role']
  readonly blocks: readonly BlockOrMark[]
  /** Whether the client wrote the content as a string. */
  readonly isText: boolean
}

function toDraft(message: CanonicalMessage, ids: RequestToolIds): Draft {
  const isText = typeof message.content === 'string'
  switch (message.role) {
    case 'system':
      return { role: 'system', blocks: toMarkedBlocks(message, textParts), isText }
    case 'user':
      return { role: 'user', blocks: toMarkedBlocks(message, contentParts), isText }
    case 'assistant': {
      const own = readProviderContent(message, contentRules)
      if (own) return { role: 'assistant', blocks: toOwnBlocks(own, message, ids), isText: false }
      const calls = message.calls.flatMap((call) => toToolUse(call, ids))
      const output = toMarkedBlocks(message, textParts, calls)
      const thinking = readThinkingBlocks(message)
      // Thinking alone would end the turn, which the API refuses.
      const blocks = thinking.length > 0 && output.length > 0 ? [...thinking, ...output] : output
      return { role: 'assistant', blocks, isText }
    }
    case 'tool':
      return { role: 'user', blocks: toToolResult(message, ids), isText: false }
    default:
      return message satisfies never
  }
}

/**
 * Returns the vendor's own blocks of an earlier answer, with the calls as the message has them and its cache
 * marks behind the last block.
 */
function toOwnBlocks(
  own: readonly PastBlock[],
  message: CanonicalMessage,
  ids: RequestToolIds,
): readonly BlockOrMark[] {
  const blocks = listAccepted(own).flatMap(({ members, call }) =>
    call ? toToolUse(call, ids, members) : [members],
  )
  const marks = toMarkedBlocks(message, textParts).filter((item) => item instanceof CacheMark)
  return [...blocks, ...marks]
}

/** Whether an earlier answer goes back with its thinking first. */
export function beginsWithThinking(message: PastAnswer): boolean {
  const own = readProviderContent(message, contentRules)
  if (!own) return readThinkingBlocks(message).length > 0
  const [first] = listAccepted(own)
  return first !== undefined && isThinking(first.members)
}

/** The API refuses blank texts, and thinking at the end of a turn, although models write both. */
function listAccepted(own: readonly PastBlock[]): readonly PastBlock[] {
  const written = own.filter(({ members }) => !isBlank(members))
  return written.slice(0, written.findLastIndex(({ members }) => !isThinking(members)) + 1)
}

function isBlank({ type, text }: ClaudeBlock): boolean {
  return type === 'text' && typeof text === 'string' && text.trim() === ''
}

interface AnthropicTurn extends Turn {
  readonly isText: boolean
}

const turnRules: TurnRules<AnthropicTurn> = {
  // The API refuses text in front of a tool result.
  arrange: (blocks) =>
    blocks.some(isResult)
      ? [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))]
      : blocks,
  opening: { role: 'user', content: [{ type: 'text', text: placeholderText }], isText: true },
}

function isResult(block: ClaudeBlock): boolean {
  return block['type'] === 'tool_result'
}

function toMessage({ role, content, isText }: AnthropicTurn): AnthropicMessage {
  const [first] = content
  const isString = isText && content.length === 1 && first?.['type'] === 'text' && !isMarked(first)
  return { role, content: isString ? String(first['text']) : content }
}
