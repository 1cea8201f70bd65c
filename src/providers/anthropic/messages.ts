import { UntranslatableError } from '../../core/untranslatable-error.ts'
import type { CanonicalMessage } from '../canonical/messages.ts'
import { type Markable, markedBlocks, settleMarks } from '../claude/cache-marks.ts'
import { thinkingBlocks } from '../claude/thinking-blocks.ts'
import { contentBlocks, isMarked, markRules, textBlocks } from './blocks.ts'
import type { Block } from './media.ts'
import { ToolIds, toolResult, toolUse } from './tools.ts'

/** One turn of the conversation. A lone text stays a string. */
interface Turn {
  readonly role: 'user' | 'assistant'
  readonly content: string | readonly Block[]
}

export interface Conversation {
  readonly system: Turn['content'] | undefined
  readonly messages: readonly Turn[]
}

/**
 * The conversation in the form and order that the Messages API insists on. Instructions are gathered
 * from wherever they stand: only the newest models would take them in place.
 */
export function conversationOf(messages: readonly CanonicalMessage[]): Conversation {
  const ids = new ToolIds()
  const instructions = messages.flatMap((message) =>
    message.role === 'system' ? markedBlocks(message, textBlocks) : [],
  )
  const drafts = messages.flatMap((message) =>
    message.role === 'system' ? [] : [draftOf(message, ids)],
  )
  const lists = [instructions, ...drafts.map(({ content }) => content)]
  const [system = [], ...contents] = settleMarks(lists, markRules)
  const settled = drafts.map(({ role, isText }, index) => ({
    role,
    isText,
    content: contents[index] ?? [],
  }))
  return { system: systemOf(system), messages: turnsOf(settled) }
}

/** One string, or blocks where one carries a cache mark. */
function systemOf(blocks: readonly Block[]): Turn['content'] | undefined {
  if (blocks.length === 0) return undefined
  return blocks.some(isMarked) ? blocks : blocks.map((block) => block['text']).join('\n')
}

/** What a message becomes before its neighbours are looked at. */
interface Draft<Item = Block> {
  readonly role: Turn['role']
  readonly content: readonly Item[]
  /** The client wrote one string. */
  readonly isText: boolean
}

function draftOf(
  message: Exclude<CanonicalMessage, { readonly role: 'system' }>,
  ids: ToolIds,
): Draft<Markable> {
  const isText = typeof message.content === 'string'
  switch (message.role) {
    case 'user':
      return { role: 'user', content: markedBlocks(message, contentBlocks), isText }
    case 'assistant': {
      const calls = message.calls.flatMap((call) => toolUse(call, ids))
      const said = markedBlocks(message, textBlocks, calls)
      const thinking = thinkingBlocks(message)
      const content = thinking.length > 0 ? [...thinking, ...said] : said
      return { role: 'assistant', content, isText }
    }
    case 'tool':
      return { role: 'user', content: toolResult(message, ids), isText: false }
    default:
      return message satisfies never
  }
}

function turnsOf(drafts: readonly Draft[]): readonly Turn[] {
  const merged = runsOf(drafts.filter(({ content }) => content.length > 0)).map(mergeRun)
  const first = merged[0]
  if (!first) throw new UntranslatableError('messages hold nothing to answer', 'messages')
  // A conversation must open with the user, and must not with nothing.
  const opened: Turn[] =
    first.role === 'user' ? merged : [{ role: 'user', content: '.' }, ...merged]
  return [...opened.slice(0, -1), ...opened.slice(-1).map(trimPrefill)]
}

/** Neighbours of one role, together: all results of parallel calls must stand in one message. */
function runsOf(drafts: readonly Draft[]): Draft[][] {
  const runs: Draft[][] = []
  for (const draft of drafts) {
    const run = runs.at(-1)
    if (run?.[0]?.role === draft.role) run.push(draft)
    else runs.push([draft])
  }
  return runs
}

function mergeRun(run: readonly Draft[]): Turn {
  // A run holds at least one draft.
  const { role, content, isText } = run[0] as Draft
  const blocks = run.length === 1 ? content : run.flatMap((draft) => draft.content)
  const [first] = blocks
  if (first && blocks.length === 1) {
    const isString = isText && first['type'] === 'text' && !isMarked(first)
    return { role, content: isString ? String(first['text']) : blocks }
  }
  // Results must come first: text before them is refused.
  return {
    role,
    content: [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))],
  }
}

function isResult(block: Block): boolean {
  return block['type'] === 'tool_result'
}

/** "final assistant content cannot end with trailing whitespace" */
function trimPrefill(turn: Turn): Turn {
  if (turn.role !== 'assistant') return turn
  if (typeof turn.content === 'string') return { ...turn, content: turn.content.trimEnd() }
  const last = turn.content.at(-1)
  const text = last?.['text']
  if (typeof text !== 'string') return turn
  return { ...turn, content: [...turn.content.slice(0, -1), { ...last, text: text.trimEnd() }] }
}
