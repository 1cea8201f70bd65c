import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import type { CanonicalMessage, PastAnswer } from '../canonical/messages.ts'

/*
 * Thinking reaches the client and comes back in `thinking_blocks`, in the form of the Messages API: a
 * list of blocks, each with the signature or the redacted data that proves its origin. The vendor
 * accepts it only unchanged and in its place. Blocks that lead the answer go back in front of it.
 * Blocks after a text or a call cannot go back, because a message of the OpenAI API has one text.
 * They carry `index`, their position in the vendor's content, and a message that has such a block goes
 * back without thinking.
 * https://platform.claude.com/docs/en/build-with-claude/extended-thinking
 */

/**
 * Collects the thinking of one answer in runs of neighbouring blocks. Each run becomes one list in
 * one chunk: SDKs that merge deltas may keep only the last list of a message.
 */
export class ThinkingRuns {
  #open: { readonly index: number; readonly block: Record<string, unknown> } | undefined
  #run: JsonObject[] = []
  /** The number of blocks of the run that `takeEnded` has returned. */
  #taken = 0
  /** Whether only thinking has come so far. */
  #leads = true

  /** Adds a piece of the block at `index`: texts are appended, other members replaced. */
  add(index: number, piece: JsonObject): void {
    if (this.#open?.index !== index) this.end()
    this.#open ??= { index, block: {} }
    const { block } = this.#open
    for (const [name, value] of Object.entries(piece)) {
      const former = block[name]
      block[name] = typeof former === 'string' ? `${former}${value}` : value
    }
  }

  /** Completes the open block. A block without proof is left out, as it could not be sent back. */
  end(): void {
    if (!this.#open) return
    const { index, block } = this.#open
    this.#open = undefined
    const typed = { type: 'data' in block ? 'redacted_thinking' : 'thinking', ...block }
    if (isProven(typed)) this.#run.push(this.#leads ? typed : { ...typed, index })
  }

  /** Returns the proven blocks that have ended since the last call, for writers that need each in its place. */
  takeEnded(): readonly JsonObject[] {
    if (this.#taken === this.#run.length) return none
    const ended = this.#run.slice(this.#taken)
    this.#taken = this.#run.length
    return ended
  }

  /** Returns the run that a block of another type ends. */
  interrupt(): readonly JsonObject[] {
    const run = this.finish()
    this.#leads = false
    return run
  }

  /** Returns the run at the end of the answer. */
  finish(): readonly JsonObject[] {
    this.end()
    const run = this.#run
    if (run.length > 0) this.#run = []
    this.#taken = 0
    return run
  }
}

const none: readonly JsonObject[] = []

/** Returns the `thinking_blocks` of an answer. `toThinking` reads the vendor's block if it is thinking. */
export function collectThinking<Block>(
  content: readonly Block[],
  toThinking: (block: Block) => JsonObject | undefined,
): readonly JsonObject[] {
  // Most answers hold no thinking.
  if (!content.some(toThinking)) return none
  const runs = new ThinkingRuns()
  const earlier = content.flatMap((block, index) => {
    const thinking = toThinking(block)
    if (!thinking) return runs.interrupt()
    runs.add(index, thinking)
    return []
  })
  return [...earlier, ...runs.finish()]
}

/** Returns the thinking that goes back with an assistant message: all of it unchanged, or none. */
export function readThinkingBlocks({ raw }: CanonicalMessage): readonly JsonObject[] {
  const given = raw['thinking_blocks']
  const blocks = Array.isArray(given) ? given.filter(isObject).filter(isProven) : []
  return blocks.some((block) => 'index' in block) ? [] : blocks
}

/** Whether a block has the signature or the data without which the vendor rejects it. */
function isProven({ type, signature, data }: JsonObject): boolean {
  const proof = type === 'thinking' ? signature : type === 'redacted_thinking' ? data : undefined
  return typeof proof === 'string' && proof !== ''
}

/**
 * Whether the latest tool calls of the conversation lack the thinking that led to them. A request
 * that thinks on a budget is then refused: "Expected `thinking` or `redacted_thinking`, but found
 * `tool_use`". https://github.com/anomalyco/opencode/issues/3077
 */
export function lacksThinking(
  messages: readonly CanonicalMessage[],
  beginsWithThinking: (message: PastAnswer) => boolean,
): boolean {
  const latest = messages.findLast(
    (message): message is PastAnswer => message.role === 'assistant' && message.calls.length > 0,
  )
  return latest !== undefined && !beginsWithThinking(latest)
}
