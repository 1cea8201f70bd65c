import { settleMarks, toolMarks } from '../claude/cache-marks.ts'
import type { ClaudeModel } from '../claude/models.ts'
import type { Raw } from '../openai/messages.ts'
import type { OpenAiRequest } from '../openai/request.ts'
import { callableTools, type FunctionTool } from '../openai/tools.ts'
import { type Drop, markRules } from './blocks.ts'
import type { Block } from './media.ts'

export interface ToolFields {
  readonly tools?: readonly Block[]
  readonly tool_choice?: Block | undefined
}

/** The functions on offer and how they may be chosen. Without functions a choice is refused. */
export function toolFields(
  request: OpenAiRequest,
  model: ClaudeModel,
  thinking: Raw | undefined,
  drop: Drop,
): ToolFields {
  const mayForce = model.forcedTools && thinking?.['type'] !== 'enabled'
  const offered = new Set(offeredTools(request, mayForce))
  if (offered.size === 0) return {}
  const tools = request.tools.flatMap((tool) => [
    ...(offered.has(tool) ? [toolBlock(tool, model, drop)] : []),
    ...toolMarks(tool),
  ])
  return {
    tools: settleMarks([tools], markRules).flat(),
    tool_choice: withParallel(choiceBlock(request, mayForce, drop), request),
  }
}

/** Where no call may be forced, a named function is at least the only one. */
function offeredTools(request: OpenAiRequest, mayForce: boolean): readonly FunctionTool[] {
  const { tools, toolChoice } = request
  return toolChoice?.kind === 'function' && !mayForce
    ? tools.filter(({ name }) => name === toolChoice.name)
    : callableTools(request)
}

function toolBlock(tool: FunctionTool, { schemas }: ClaudeModel, drop: Drop): Block {
  const { name, description, parameters, strict, path } = tool
  if (strict && !schemas) drop(`${path}.function.strict`)
  return {
    name,
    ...(description !== undefined && { description }),
    input_schema: parameters
      ? { type: 'object', ...parameters }
      : { type: 'object', properties: {} },
    ...(strict && schemas && { strict }),
  }
}

function choiceBlock(
  { toolChoice }: OpenAiRequest,
  mayForce: boolean,
  drop: Drop,
): Block | undefined {
  const forced = (block: Block): Block => {
    if (mayForce) return block
    drop('tool_choice')
    return { type: 'auto' }
  }
  switch (toolChoice?.kind) {
    case undefined:
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
    case 'custom':
      drop('tool_choice')
      return undefined
    default:
      return toolChoice satisfies never
  }
}

/** One call at a time is a property of the choice, which alone must not force a call. */
function withParallel(
  choice: Block | undefined,
  { parallelToolCalls }: OpenAiRequest,
): Block | undefined {
  if (parallelToolCalls !== false || choice?.['type'] === 'none') return choice
  return { type: 'auto', ...choice, disable_parallel_tool_use: true }
}
