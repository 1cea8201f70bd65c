import type { OpenAiRequest } from '../canonical/request.ts'
import { type FunctionTool, offeredTools } from '../canonical/tools.ts'
import { settleMarks, toolMarks } from '../claude/cache-marks.ts'
import { markRules } from './blocks.ts'
import type { Block } from './media.ts'

export interface ToolFields {
  readonly tools?: readonly Block[]
  readonly tool_choice?: Block | undefined
}

/** The functions on offer and how they may be chosen. Without functions a choice is refused. */
export function toolFields(request: OpenAiRequest, mayForce: boolean): ToolFields {
  const offered = new Set(offeredTools(request, mayForce))
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

function choiceBlock({ toolChoice }: OpenAiRequest, mayForce: boolean): Block | undefined {
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
  { parallelToolCalls }: OpenAiRequest,
): Block | undefined {
  if (parallelToolCalls !== false) return choice
  return { type: 'auto', ...choice, disable_parallel_tool_use: true }
}
