import { mapInSteps, type Steps } from '../../core/steps.ts'
import { isObject } from '../../wire/json/parse.ts'
import type { CanonicalMessage } from '../canonical/messages.ts'
import type { PastCall } from '../canonical/past-call.ts'
import { type PastBlock, readProviderContent } from '../canonical/provider-content.ts'
import {
  type BlockOrMark,
  CacheMark,
  type ClaudeBlock,
  placeMarks,
  readMark,
  toMarkedBlocks,
} from '../claude/cache-marks.ts'
import { readThinkingBlocks } from '../claude/thinking-blocks.ts'
import { alternateTurns, type Turn, type TurnRules } from '../claude/turns.ts'
import {
  createContentParts,
  createMarkRules,
  instructionParts,
  placeholder,
  textParts,
  toReasoningBlock,
} from './blocks.ts'
import { contentRules, dropClientType } from './content.ts'
import { MediaBlocks } from './media.ts'
import type { BedrockModel } from './models.ts'
import { listAccepted } from './past-content.ts'
import { ToolUseIds } from './tools.ts'

/** The fields of the request body that hold the conversation. */
export interface ConverseConversation {
  readonly system?: readonly ClaudeBlock[] | undefined
  readonly messages: readonly Turn[]
}

/** Translates a conversation. */
export function* toConverseMessages(
  messages: readonly CanonicalMessage[],
  model: BedrockModel,
): Steps<ConverseConversation> {
  const translator = new MessageTranslator(model)
  const instructions = messages.flatMap((message) => translator.toInstructions(message))
  yield
  const drafts = (yield* mapInSteps(messages, (message) => translator.toDrafts(message))).flat()
  yield
  const lists = [instructions, ...drafts.map(({ blocks }) => blocks)]
  const [system = [], ...contents] = placeMarks(lists, createMarkRules(model))
  yield
  const turns = drafts.map(({ role }, index) => ({ role, content: contents[index] ?? [] }))
  return {
    system: system.length > 0 ? system : undefined,
    messages: alternateTurns(turns, turnRules),
  }
}

const turnRules: TurnRules<Turn> = {
  arrange(blocks) {
    // Converse requires tool results first, and a text beside a document.
    const results = blocks.filter((block) => 'toolResult' in block)
    const others = blocks.filter((block) => !('toolResult' in block))
    const lacksText =
      others.some((block) => 'document' in block) && !others.some((b) => 'text' in b)
    return [...results, ...others, ...(lacksText ? [placeholder] : [])]
  },
  opening: { role: 'user', content: [placeholder] },
}

const filesBelow = 'The files of this result are behind the results.'

/** A translated message before its marks are placed. */
interface Draft {
  readonly role: Turn['role']
  readonly blocks: readonly BlockOrMark[]
}

/** Translates the messages of one request, over all of which ids and document names are unique. */
class MessageTranslator {
  readonly #model: BedrockModel
  readonly #ids: ToolUseIds
  readonly #contentParts = createContentParts(new MediaBlocks())

  constructor(model: BedrockModel) {
    this.#model = model
    this.#ids = new ToolUseIds(model.toolUseIdForm)
  }

  toInstructions(message: CanonicalMessage): readonly BlockOrMark[] {
    return message.role === 'system' ? toMarkedBlocks(message, instructionParts) : []
  }

  toDrafts(message: CanonicalMessage): Draft[] {
    switch (message.role) {
      case 'system':
        return []
      case 'user':
        return [{ role: 'user', blocks: toMarkedBlocks(message, this.#contentParts) }]
      case 'assistant': {
        const own = readProviderContent(message, contentRules)
        if (own) return [{ role: 'assistant', blocks: this.#toOwnBlocks(own, message) }]
        const thinking = this.#model.hasSignedReasoning ? readThinkingBlocks(message) : []
        const calls = message.calls.flatMap((call) => [
          this.#toToolUse(call),
          ...readMark(call.raw),
        ])
        const output = toMarkedBlocks(message, textParts, calls)
        // Thinking alone would end the turn, which Claude refuses.
        const blocks = output.length > 0 ? [...thinking.map(toReasoningBlock), ...output] : []
        return [{ role: 'assistant', blocks }]
      }
      case 'tool':
        return [{ role: 'user', blocks: this.#toToolResult(message) }]
      default:
        return message satisfies never
    }
  }

  /**
   * Returns the service's own blocks of an earlier answer, with the calls as the message has them and its
   * cache marks behind the last block.
   */
  #toOwnBlocks(own: readonly PastBlock[], message: CanonicalMessage): readonly BlockOrMark[] {
    const blocks = listAccepted(own, this.#model).flatMap(({ members, block, call }) =>
      call ? [this.#toToolUse(call, block['toolUse']), ...readMark(call.raw)] : [members],
    )
    const marks = toMarkedBlocks(message, textParts).filter((item) => item instanceof CacheMark)
    return [...blocks, ...marks]
  }

  /** `own` is the service's own `toolUse`, if the client has returned it. */
  #toToolUse(call: PastCall, own: unknown = {}): ClaudeBlock {
    return {
      toolUse: {
        ...(isObject(own) && dropClientType(own)),
        toolUseId: this.#ids.assign(call.id),
        name: call.name,
        input: call.object,
      },
    }
  }

  /**
   * A result cannot hold cache points, so its marks move behind it. So do its images and files for a model that
   * takes only text in it.
   */
  #toToolResult(message: CanonicalMessage & { readonly role: 'tool' }): BlockOrMark[] {
    const inner = toMarkedBlocks(message, this.#contentParts)
    const marks = inner.filter((item) => item instanceof CacheMark)
    const blocks = inner.filter((item) => !(item instanceof CacheMark))
    const toolUseId = this.#ids.resolve(message.callId)
    const isKept = (block: BlockOrMark) => this.#model.hasResultMedia || 'text' in block
    const kept = blocks.filter(isKept)
    const moved = blocks.filter((block) => !isKept(block))
    const content = moved.length > 0 ? [...kept, { text: filesBelow }] : kept
    const toolResult = {
      toolUseId,
      content: content.length > 0 ? content : [placeholder],
      status: message.isError && this.#model.hasResultStatus ? 'error' : undefined,
    }
    const heading = { text: `The files of the tool result ${toolUseId}:` }
    return [{ toolResult }, ...marks, ...(moved.length > 0 ? [heading, ...moved] : [])]
  }
}
