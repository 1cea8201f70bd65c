import { UntranslatableError } from '../../core/untranslatable-error.ts'
import { type CanonicalMessage, type JsonObject, unsupportedPart } from '../canonical/messages.ts'
import type { PastCall } from '../canonical/past-call.ts'
import {
  CacheMark,
  type Markable,
  type MarkRules,
  markedBlocks,
  marksOn,
  type OtherPart,
  type PartBlocks,
  settleMarks,
} from '../claude/cache-marks.ts'
import { thinkingBlocks } from '../claude/thinking-blocks.ts'
import { type Block, cachePoint } from './blocks.ts'
import { isTextDocument, MediaBlocks } from './media.ts'
import type { BedrockModel } from './models.ts'
import { ToolUseIds } from './tools.ts'

/** One turn of the conversation. */
interface Turn<Item = Block> {
  readonly role: 'user' | 'assistant'
  readonly content: readonly Item[]
}

export interface Conversation {
  readonly system?: readonly Block[] | undefined
  readonly messages: readonly Turn[]
}

/** What stands for a text where Converse insists on one. */
const placeholder: Block = Object.freeze({ text: '.' })

/** The conversation in the form and order that Converse insists on: turns alternate, the user opens. */
export function converseMessages(
  messages: readonly CanonicalMessage[],
  model: BedrockModel,
): Conversation {
  const translator = new Translator(model)
  const instructions = messages.flatMap((message) => translator.instructions(message))
  const drafts = messages.flatMap((message) => translator.turn(message))
  const lists = [instructions, ...drafts.map(({ content }) => content)]
  const [system = [], ...contents] = settleMarks(lists, markRules(model))
  const turns = drafts.map(({ role }, index) => ({ role, content: contents[index] ?? [] }))
  const merged = runsOf(turns.filter(({ content }) => content.length > 0)).map(mergeRun)
  const first = merged[0]
  if (!first) throw new UntranslatableError('messages hold nothing to answer', 'messages')
  const opening: Turn[] = first.role === 'user' ? [] : [{ role: 'user', content: [placeholder] }]
  const ending = merged.slice(-1).map(trimPrefill)
  return {
    system: system.length > 0 ? system : undefined,
    messages: [...opening, ...merged.slice(0, -1), ...ending],
  }
}

/** Translates message by message; ids and names must be unique over all of them. */
class Translator {
  readonly #model: BedrockModel
  readonly #ids: ToolUseIds
  readonly #media = new MediaBlocks()
  /** What users say, and what tools return. */
  readonly #contents: PartBlocks = {
    text: textBlock,
    other: (part, message) => {
      switch (part.type) {
        case 'image':
          return this.#media.image(part)
        case 'file':
          return this.#media.file(part)
        case 'audio':
        case 'other':
          return refuse(part, message)
        default:
          return part satisfies never
      }
    },
  }

  constructor(model: BedrockModel) {
    this.#model = model
    this.#ids = new ToolUseIds(model.callIds)
  }

  instructions(message: CanonicalMessage): readonly Markable[] {
    return message.role === 'system' ? markedBlocks(message, texts) : []
  }

  turn(message: CanonicalMessage): Turn<Markable>[] {
    switch (message.role) {
      case 'system':
        return []
      case 'user':
        return [{ role: 'user', content: markedBlocks(message, this.#contents) }]
      case 'assistant': {
        const thinking = this.#model.takesReasoning ? thinkingBlocks(message) : []
        const calls = message.calls.flatMap((call) => [this.#toolUse(call), ...marksOn(call.raw)])
        const content = [...thinking.map(reasoningBlock), ...markedBlocks(message, texts, calls)]
        return [{ role: 'assistant', content }]
      }
      case 'tool':
        return [{ role: 'user', content: this.#toolResult(message) }]
      default:
        return message satisfies never
    }
  }

  #toolUse(call: PastCall): Block {
    return {
      toolUse: {
        toolUseId: this.#ids.opened(call.id),
        name: call.name,
        input: call.object,
      },
    }
  }

  #toolResult(message: CanonicalMessage & { readonly role: 'tool' }): Markable[] {
    // Within a result there is no place for a cache point.
    const inner = markedBlocks(message, this.#contents)
    const content = inner.filter((item) => !(item instanceof CacheMark))
    const toolResult = {
      toolUseId: this.#ids.answered(message.callId),
      content: content.length > 0 ? content : [placeholder],
    }
    return [{ toolResult }, ...inner.filter((item) => item instanceof CacheMark)]
  }
}

/** Instructions and answers are text alone. */
const texts: PartBlocks = { text: textBlock, other: refuse }

/** Blank texts are refused. */
function textBlock(text: string): Block | undefined {
  return text.trim() === '' ? undefined : { text }
}

function refuse(part: OtherPart, message: CanonicalMessage): never {
  throw unsupportedPart(part, 'bedrock', message)
}

/**
 * A mark is a block of its own behind the one that it marks. Reasoning must come back as it was, and
 * behind a document that is text AWS takes none.
 */
function markRules({ takesCachePoints }: BedrockModel): MarkRules {
  return {
    carries: (block) => !('reasoningContent' in block) && !isTextDocument(block),
    marked: (block, mark) => (takesCachePoints ? [block, cachePoint(mark)] : [block]),
  }
}

/** Thinking as it was given out. Every block is signed, or redacted. */
function reasoningBlock({ thinking, signature, data }: JsonObject): Block {
  return {
    reasoningContent:
      data === undefined
        ? { reasoningText: { text: thinking, signature } }
        : { redactedContent: data },
  }
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
  const { role } = run[0] as Turn
  const blocks = run.flatMap(({ content }) => content)
  // Results must come first, and a document must have a text beside it.
  const results = blocks.filter((block) => 'toolResult' in block)
  const others = blocks.filter((block) => !('toolResult' in block))
  const isMute = others.some((block) => 'document' in block) && !others.some((b) => 'text' in b)
  return { role, content: [...results, ...others, ...(isMute ? [placeholder] : [])] }
}

/** An answer that the model is to continue must not end in white space. */
function trimPrefill(turn: Turn): Turn {
  const last = turn.content.at(-1)
  const text = last?.['text']
  if (turn.role !== 'assistant' || typeof text !== 'string') return turn
  return { ...turn, content: [...turn.content.slice(0, -1), { text: text.trimEnd() }] }
}
