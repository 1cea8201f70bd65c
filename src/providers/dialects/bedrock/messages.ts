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
} from '../openai/messages.ts'
import { type Block, cachePoints, type Drop } from './block.ts'
import { isTextDocument, MediaBlocks } from './media.ts'
import type { BedrockModel } from './model.ts'
import { ToolUseIds, toolName } from './names.ts'

/** One turn of the conversation. */
interface Turn {
  readonly role: 'user' | 'assistant'
  readonly content: readonly Block[]
}

export interface Conversation {
  readonly system?: readonly Block[] | undefined
  readonly messages: readonly Turn[]
}

/** What stands for a text where Converse insists on one. */
const placeholder: Block = Object.freeze({ text: '.' })

/** The conversation in the form and order that Converse insists on: turns alternate, the user opens. */
export function converseMessages(
  messages: readonly Message[],
  model: BedrockModel,
  drop: Drop,
): Conversation {
  const translator = new Translator(model, drop)
  const system = messages.flatMap((message) => translator.instructions(message))
  const turns = messages
    .flatMap((message) => translator.turn(message))
    .filter(({ content }) => content.length > 0)
  const merged = runsOf(turns).map(mergeRun)
  const first = merged[0]
  if (!first) throw new CannotExpress('messages hold nothing to answer', 'messages')
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
  readonly #drop: Drop
  readonly #ids: ToolUseIds
  readonly #media = new MediaBlocks()

  constructor(model: BedrockModel, drop: Drop) {
    this.#model = model
    this.#drop = drop
    this.#ids = new ToolUseIds(model.shortIds)
  }

  instructions(message: Message): Block[] {
    return message.role === 'system' ? this.#texts(message) : []
  }

  turn(message: Message): Turn[] {
    switch (message.role) {
      case 'system':
        return []
      case 'user':
        return [{ role: 'user', content: this.#contents(message) }]
      case 'assistant':
        return [
          {
            role: 'assistant',
            content: [
              ...(this.#model.takesReasoning ? thinkingBlocks(message).map(reasoningBlock) : []),
              ...this.#texts(message),
              ...message.calls.map((call) => this.#toolUse(call)),
            ],
          },
        ]
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
        name: toolName(call.name, `${call.path}.function.name`),
        input: objectArguments(call, this.#drop),
      },
    }
  }

  #toolResult(message: Message & { readonly role: 'tool' }): Block[] {
    const parts = partsOf(message)
    const content = parts.flatMap((part) => this.#block(part, message) ?? [])
    const toolResult = {
      toolUseId: this.#ids.answered(message.callId),
      content: content.length > 0 ? content : [placeholder],
    }
    // Within a result there is no place for a cache point.
    const points = [message, ...parts].flatMap(({ raw }) => this.#pointsAfter(toolResult, raw))
    return [{ toolResult }, ...points.slice(0, 1)]
  }

  /** Instructions and answers are text alone. */
  #texts(message: Message): Block[] {
    return partsOf(message).flatMap((part) => {
      if (part.type === 'text') return this.#marked(part, message)
      throw cannotCarry(part, 'bedrock', message)
    })
  }

  #contents(message: Message): Block[] {
    return partsOf(message).flatMap((part) => this.#marked(part, message))
  }

  /** A block, and the cache point that the client has put behind it. */
  #marked(part: Part, message: Message): Block[] {
    const block = this.#block(part, message)
    return block ? [block, ...this.#pointsAfter(block, part.raw)] : []
  }

  #pointsAfter(block: Block, raw: Raw): Block[] {
    return this.#model.takesCachePoints && !isTextDocument(block) ? cachePoints(raw) : []
  }

  #block(part: Part, message: Message): Block | undefined {
    switch (part.type) {
      case 'text':
        // Blank texts are refused.
        return part.text.trim() === '' ? undefined : { text: part.text }
      case 'image':
        return this.#media.image(part)
      case 'file':
        return this.#media.file(part)
      case 'audio':
      case 'other':
        throw cannotCarry(part, 'bedrock', message)
      default:
        return part satisfies never
    }
  }
}

/** Thinking as it was given out. Every block is signed, or redacted. */
function reasoningBlock({ thinking, signature, data }: Raw): Block {
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
