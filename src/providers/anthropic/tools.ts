import type { CanonicalMessage } from '../canonical/messages.ts'
import type { PastCall } from '../canonical/past-call.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { type FunctionTool, listOfferedTools } from '../canonical/tools.ts'
import {
  CacheMark,
  type Markable,
  markedBlocks,
  marksOn,
  settleMarks,
  toolMarks,
} from '../claude/cache-marks.ts'
import { contentBlocks, markRules } from './blocks.ts'
import type { Block } from './media.ts'

export interface ToolFields {
  readonly tools?: readonly Block[]
  readonly tool_choice?: Block | undefined
}

/** The functions on offer and how they may be chosen. Without functions a choice is refused. */
export function toolFields(request: CanonicalRequest, mayForce: boolean): ToolFields {
  const offered = new Set(listOfferedTools(request, mayForce))
  if (offered.size === 0) return {}
  const tools = request.tools.flatMap((tool) => [
    ...(offered.has(tool) ? [toolBlock(tool)] : []),
    ...toolMarks(tool),
  ])
  return {
    tools: settleMarks([tools], markRules).flat(),
    tool_choice: withParallel(choiceBlock(request, mayForce), request),
  }
}

function toolBlock({ name, description, parameters, strict }: FunctionTool): Block {
  return {
    name,
    ...(description !== undefined && { description }),
    input_schema: parameters
      ? { type: 'object', ...parameters }
      : { type: 'object', properties: {} },
    ...(strict && { strict }),
  }
}

function choiceBlock({ toolChoice }: CanonicalRequest, mayForce: boolean): Block | undefined {
  const forced = (block: Block): Block => (mayForce ? block : { type: 'auto' })
  switch (toolChoice?.kind) {
    case undefined:
    case 'custom':
      return undefined
    case 'auto':
    case 'none':
      return { type: toolChoice.kind }
    case 'required':
      return forced({ type: 'any' })
    case 'function':
      return forced({ type: 'tool', name: toolChoice.name })
    case 'allowed':
      return toolChoice.mode === 'auto' ? { type: 'auto' } : forced({ type: 'any' })
    default:
      return toolChoice satisfies never
  }
}

/** One call at a time is a property of the choice, which alone must not force a call. */
function withParallel(
  choice: Block | undefined,
  { parallelToolCalls }: CanonicalRequest,
): Block | undefined {
  if (parallelToolCalls !== false) return choice
  return { type: 'auto', ...choice, disable_parallel_tool_use: true }
}

export function toolUse(call: PastCall, ids: ToolIds): readonly Markable[] {
  const block = {
    type: 'tool_use',
    id: ids.opened(call.id),
    name: call.name,
    input: call.object,
  }
  return [block, ...marksOn(call.raw)]
}

/** Marks inside of a result stay there; one before everything inside is a mark on the result. */
export function toolResult(
  message: CanonicalMessage & { readonly role: 'tool' },
  ids: ToolIds,
): readonly Markable[] {
  const own = marksOn(message.raw)
  const inner = markedBlocks({ ...message, raw: {} }, contentBlocks)
  const [blocks = []] = settleMarks([inner], markRules)
  const content = typeof message.content === 'string' ? blocks[0]?.['text'] : blocks
  const result = {
    type: 'tool_result',
    tool_use_id: ids.answered(message.callId),
    ...(blocks.length > 0 && { content }),
  }
  return [result, ...own, ...inner.slice(0, 1).filter((item) => item instanceof CacheMark)]
}

/**
 * Ids of tool calls in the vendor's alphabet, each used once, although other vendors write
 * `functions.look:0` and some clients count from 0 in every turn.
 */
export class ToolIds {
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
