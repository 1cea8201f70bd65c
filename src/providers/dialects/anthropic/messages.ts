import { CannotExpress } from '../../../core/cannot-express.ts'
import { thinkingBlocks } from '../claude/thinking.ts'
import { objectArguments } from '../openai/arguments.ts'
import {
  cannotCarry,
  type Message,
  type Part,
  type PastCall,
  partsOf,
  type Raw,
  type TextPart,
} from '../openai/messages.ts'
import { isObject } from '../openai/usage.ts'
import { type Block, documentBlock, imageBlock } from './media.ts'

/** Told the path of everything that has no counterpart and is left out. */
export type Drop = (path: string) => void

/** One turn of the conversation. A lone text stays a string. */
export interface Turn {
  readonly role: 'user' | 'assistant'
  readonly content: string | readonly Block[]
}

/**
 * The instructions, wherever they stand in the conversation: only the newest models would take them
 * in place. One string, or blocks where a part carries a cache mark.
 */
export function systemOf(messages: readonly Message[]): Turn['content'] | undefined {
  const blocks = messages.filter(({ role }) => role === 'system').flatMap(textBlocks)
  if (blocks.length === 0) return undefined
  return blocks.some((block) => 'cache_control' in block)
    ? blocks
    : blocks.map((block) => block['text']).join('\n')
}

/** The conversation without its instructions, in the form and order that the Messages API insists on. */
export function turnsOf(messages: readonly Message[], drop: Drop): readonly Turn[] {
  const ids = new ToolIds()
  const turns = messages
    .flatMap((message) => turnOf(message, ids, drop))
    .filter(({ content }) => content.length > 0)
  const merged = runsOf(turns).map(mergeRun)
  const first = merged[0]
  if (!first) throw new CannotExpress('messages hold nothing to answer', 'messages')
  // A conversation must open with the user, and must not with nothing.
  const opened: Turn[] =
    first.role === 'user' ? merged : [{ role: 'user', content: '.' }, ...merged]
  return [...opened.slice(0, -1), ...opened.slice(-1).map(trimPrefill)]
}

function turnOf(message: Message, ids: ToolIds, drop: Drop): Turn[] {
  switch (message.role) {
    case 'system':
      return []
    case 'user':
      return [{ role: 'user', content: unmarkedText(message) ?? blocksOf(message) }]
    case 'assistant': {
      const thinking = thinkingBlocks(message)
      const calls = message.calls.map((call) => toolUse(call, ids, drop))
      const text = thinking.length + calls.length === 0 ? unmarkedText(message) : undefined
      const content = text ?? [...thinking, ...textBlocks(message), ...calls]
      return [{ role: 'assistant', content }]
    }
    case 'tool': {
      const content = loneText(message) ?? blocksOf(message)
      return [
        { role: 'user', content: [toolResult(ids.answered(message.callId), content, message)] },
      ]
    }
    default:
      return message satisfies never
  }
}

/** The content when it is one string that says something. */
function loneText({ content }: Message): string | undefined {
  return typeof content === 'string' && !isBlank(content) ? content : undefined
}

/** The same, unless it carries a cache mark, which only a block can. */
function unmarkedText(message: Message): string | undefined {
  return isObject(message.raw['cache_control']) ? undefined : loneText(message)
}

function blocksOf(message: Message): readonly Block[] {
  return partsOf(message).flatMap((part) => marked(blockOf(part, message), part))
}

/** The same, of a message in which only text may stand. */
function textBlocks(message: Message): readonly Block[] {
  return partsOf(message).flatMap((part) => {
    if (part.type === 'text') return marked(textBlock(part), part)
    throw cannotCarry(part, 'anthropic', message)
  })
}

function marked(block: Block | undefined, { raw }: Part): Block[] {
  return block ? [{ ...block, ...cacheMark(raw) }] : []
}

function blockOf(part: Part, message: Message): Block | undefined {
  switch (part.type) {
    case 'text':
      return textBlock(part)
    case 'image':
      return imageBlock(part)
    case 'file':
      return documentBlock(part)
    case 'audio':
    case 'other':
      throw cannotCarry(part, 'anthropic', message)
    default:
      return part satisfies never
  }
}

/** "text content blocks must contain non-whitespace text" */
function textBlock({ text }: TextPart): Block | undefined {
  return isBlank(text) ? undefined : { type: 'text', text }
}

function toolUse(call: PastCall, ids: ToolIds, drop: Drop): Block {
  return {
    type: 'tool_use',
    id: ids.opened(call.id),
    name: call.name,
    input: objectArguments(call, drop),
  }
}

function toolResult(id: string, content: Turn['content'], { raw }: Message): Block {
  return {
    type: 'tool_result',
    tool_use_id: id,
    ...(content.length > 0 && { content }),
    ...cacheMark(raw),
  }
}

function cacheMark(raw: Raw): Block {
  const mark = raw['cache_control']
  return isObject(mark) ? { cache_control: mark } : {}
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}

/** Neighbours of one role, together: all results of parallel calls must stand in one message. */
function runsOf(turns: readonly Turn[]): Turn[][] {
  const runs: Turn[][] = []
  for (const turn of turns) {
    const run = runs.at(-1)
    if (run?.[0]?.role === turn.role) run.push(turn)
    else runs.push([turn])
  }
  return runs
}

function mergeRun(run: readonly Turn[]): Turn {
  // A run holds at least one turn.
  const only = run[0] as Turn
  if (run.length === 1 && typeof only.content === 'string') return only
  const blocks = run.flatMap(({ content }) =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  )
  // Results must come first: text before them is refused.
  const others = blocks.filter((block) => !isResult(block))
  return { role: only.role, content: [...blocks.filter(isResult), ...others] }
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

/**
 * Ids of tool calls in the vendor's alphabet, each used once, although other vendors write
 * `functions.look:0` and some clients count from 0 in every turn.
 */
class ToolIds {
  readonly #latest = new Map<string, string>()
  readonly #taken = new Set<string>()
  readonly #copies = new Map<string, number>()

  /** The id of a call. */
  opened(id: string): string {
    const plain = plainId(id)
    let copies = this.#copies.get(plain) ?? 0
    let unique = plain
    while (this.#taken.has(unique)) unique = `${plain}_${++copies + 1}`
    this.#copies.set(plain, copies)
    this.#taken.add(unique)
    this.#latest.set(id, unique)
    return unique
  }

  /** The id of the call that a result answers: the latest one that the client calls so. */
  answered(id: string): string {
    return this.#latest.get(id) ?? plainId(id)
  }
}

function plainId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, '_')
}
