import { settleMarks, toolMarks } from '../claude/cache-marks.ts'
import type { Message, Raw } from '../openai/messages.ts'
import type { OpenAiRequest } from '../openai/request.ts'
import { callableTools, type FunctionTool } from '../openai/tools.ts'
import { isObject } from '../openai/usage.ts'
import { type Block, cachePoint, type Drop } from './block.ts'
import type { BedrockModel, ChoiceType } from './model.ts'
import { toolName } from './names.ts'

export interface ToolTranslation {
  readonly config?: object
  /** Members of `additionalModelRequestFields`. */
  readonly fields: object
}

export interface ToolContext {
  readonly request: OpenAiRequest
  readonly model: BedrockModel
  /** Claude's thinking, which not every choice goes with. */
  readonly thinking: Raw | undefined
  readonly drop: Drop
}

/** The functions on offer and how they may be chosen. */
export function converseTools(context: ToolContext): ToolTranslation {
  const { request, model, drop } = context
  const past = pastTools(request.messages)
  const mayForce = forceable(context)
  const offered = offeredTools(request, mayForce)
  if (offered.length === 0 || request.toolChoice?.kind === 'none') {
    if (past.length === 0) return { fields: {} }
    // Without a toolConfig the calls in the history are refused; a model that sees tools may call.
    if (offered.length > 0) drop('tool_choice')
    return { config: { tools: offered.length > 0 ? specs(offered, context) : past }, fields: {} }
  }
  const tools = specs(offered, context)
  const choice = choiceOf(request, mayForce, drop)
  const unthinking = choice !== undefined && choice.type !== 'auto' && model.forcesWithoutThinking
  const fields = unthinking ? { thinking: { type: 'disabled' } } : {}
  if (request.parallelToolCalls === false) {
    if (model.claude) {
      // Converse has no word for it. Beside Claude's own choice there must be no other.
      const own = { type: 'auto', ...choice, disable_parallel_tool_use: true }
      return { config: { tools }, fields: { ...fields, tool_choice: own } }
    }
    drop('parallel_tool_calls')
  }
  return { config: { tools, toolChoice: toolChoice(choice, model, drop) }, fields }
}

/** Some Claude models take no forced call, and none does while it thinks by budget. */
function forceable({ model, thinking }: ToolContext): boolean {
  if (model.claude?.forcedTools === false) return false
  const type = thinking?.['type']
  const thinks = type !== undefined && type !== 'disabled'
  return model.forcesWithoutThinking ? !thinks : type !== 'enabled'
}

/** Where no call may be forced, a named function is at least the only one. */
function offeredTools(request: OpenAiRequest, mayForce: boolean): readonly FunctionTool[] {
  const { tools, toolChoice: choice } = request
  return choice?.kind === 'function' && !mayForce
    ? tools.filter(({ name }) => name === choice.name)
    : callableTools(request)
}

interface Choice {
  readonly type: ChoiceType
  readonly name?: string
}

function choiceOf(
  { toolChoice: wish }: OpenAiRequest,
  mayForce: boolean,
  drop: Drop,
): Choice | undefined {
  const forced = (choice: Choice): Choice => {
    if (mayForce) return choice
    drop('tool_choice')
    return { type: 'auto' }
  }
  switch (wish?.kind) {
    case undefined:
    case 'none':
      return undefined
    case 'auto':
      return { type: 'auto' }
    case 'required':
      return forced({ type: 'any' })
    case 'function':
      return forced({ type: 'tool', name: wish.name })
    case 'allowed':
      return wish.mode === 'auto' ? { type: 'auto' } : forced({ type: 'any' })
    case 'custom':
      drop('tool_choice')
      return undefined
    default:
      return wish satisfies never
  }
}

function toolChoice(
  choice: Choice | undefined,
  { choices }: BedrockModel,
  drop: Drop,
): object | undefined {
  if (!choice) return undefined
  const { type, name } = choice
  if (choices.includes(type)) return { [type]: { name } }
  // Without a choice the model decides, which is what `auto` says.
  if (type !== 'auto') drop('tool_choice')
  return undefined
}

function specs(tools: readonly FunctionTool[], { request, model, drop }: ToolContext): object[] {
  const offered = new Set(tools)
  const marked = request.tools.flatMap((tool) => [
    ...(offered.has(tool) ? [toolSpec(tool, model, drop)] : []),
    ...(model.claude ? toolMarks(tool) : []),
  ])
  return settleMarks([marked], {
    carries: () => true,
    marked: (spec, mark) => [spec, cachePoint(mark)],
  }).flat()
}

function toolSpec(tool: FunctionTool, { takesSchemas }: BedrockModel, drop: Drop): Block {
  const { description, parameters, path } = tool
  const schema = parameters ? { type: 'object', ...parameters } : noParameters
  const strict = tool.strict && takesSchemas && isClosed(schema)
  if (tool.strict && !strict) drop(`${path}.function.strict`)
  return {
    toolSpec: {
      name: toolName(tool.name, `${path}.function.name`),
      description: description?.trim() ? description : undefined,
      inputSchema: { json: schema },
      strict: strict || undefined,
    },
  }
}

const noParameters = { type: 'object', properties: {} }

/** Every object of the schema forbids further members, without which a tool cannot be strict. */
function isClosed(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isClosed)
  if (!isObject(schema)) return true
  const isOpen =
    [schema['type']].flat().includes('object') && schema['additionalProperties'] !== false
  return !isOpen && Object.values(schema).every(isClosed)
}

/** The tools that the conversation has called, as far as it tells of them: their names. */
function pastTools(messages: readonly Message[]): object[] {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.calls : []))
  const names = new Set(calls.map(({ name }) => name))
  return [...names].map((name) => ({ toolSpec: { name, inputSchema: { json: noParameters } } }))
}
