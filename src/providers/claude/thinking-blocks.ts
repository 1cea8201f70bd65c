import { isObject } from '../../wire/json.ts'
import type { CanonicalMessage, JsonObject } from '../canonical/messages.ts'

/*
 * Thinking goes to the client and comes back in `thinking_blocks`, in the form of the Messages API:
 * block by block, each with the signature or the hidden data that proves it. The vendor wants it back
 * unchanged and in its place, which is before everything else. Blocks that followed text or a call
 * cannot return to theirs, since a message of the OpenAI API has one text; those carry `index`, their
 * place in the vendor's content, and a message that has any goes back without thinking.
 */

/**
 * Collects the thinking of one answer in runs of neighbouring blocks. A run is one list: SDKs that
 * merge deltas may keep only the last list that they have read.
 */
export class ThinkingRuns {
  #open: { readonly index: number; readonly block: Record<string, unknown> } | undefined
  #run: JsonObject[] = []
  #leads = true

  /** The block at this place of the vendor's content opens or goes on: its texts add up. */
  add(index: number, piece: JsonObject): void {
    if (this.#open?.index !== index) this.end()
    this.#open ??= { index, block: {} }
    const { block } = this.#open
    for (const [name, value] of Object.entries(piece)) {
      const former = block[name]
      block[name] = typeof former === 'string' ? `${former}${value}` : value
    }
  }

  /** The open block is complete. Without a proof it is of no use to the client. */
  end(): void {
    if (!this.#open) return
    const { index, block } = this.#open
    this.#open = undefined
    const typed = { type: 'data' in block ? 'redacted_thinking' : 'thinking', ...block }
    if (isProven(typed)) this.#run.push(this.#leads ? typed : { ...typed, index })
  }

  /** A block of another type follows. Returns the run before it. */
  interrupt(): readonly JsonObject[] {
    const run = this.finish()
    this.#leads = false
    return run
  }

  /** The run that nothing follows. */
  finish(): readonly JsonObject[] {
    this.end()
    const run = this.#run
    if (run.length > 0) this.#run = []
    return run
  }
}

/** The `thinking_blocks` of a whole answer; `thinkingIn` reads a block of the vendor's as thinking. */
export function thinkingOf<Block>(
  content: readonly Block[],
  thinkingIn: (block: Block) => JsonObject | undefined,
): readonly JsonObject[] {
  const runs = new ThinkingRuns()
  const before = content.flatMap((block, index) => {
    const thinking = thinkingIn(block)
    if (!thinking) return runs.interrupt()
    runs.add(index, thinking)
    return []
  })
  return [...before, ...runs.finish()]
}

/** The thinking that goes back with an assistant message: all of it, unchanged, or none. */
export function thinkingBlocks({ raw }: CanonicalMessage): readonly JsonObject[] {
  const given = raw['thinking_blocks']
  const blocks = Array.isArray(given) ? given.filter(isObject).filter(isProven) : []
  return blocks.some((block) => 'index' in block) ? [] : blocks
}

/** The vendor refuses a block without its signature. */
function isProven({ type, signature, data }: JsonObject): boolean {
  const proof = type === 'thinking' ? signature : type === 'redacted_thinking' ? data : undefined
  return typeof proof === 'string' && proof !== ''
}

/**
 * True when the latest tool calls of the conversation come without the thinking that led to them.
 * Thinking by budget is then refused with "Expected `thinking`, but found `tool_use`".
 */
export function lacksThinking(messages: readonly CanonicalMessage[]): boolean {
  const latest = messages.findLast(
    (message) => message.role === 'assistant' && message.calls.length > 0,
  )
  return latest !== undefined && thinkingBlocks(latest).length === 0
}
