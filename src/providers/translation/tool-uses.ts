import { isObject } from '../../wire/json.ts'
import type { Message } from '../canonical/messages.ts'
import type { OpenAiRequest } from '../canonical/request.ts'
import { callableTools, definitionOf, type FunctionTool } from '../canonical/tools.ts'
import type { Feature } from './table.ts'
import { isPlainName, type Strip, type Use, without } from './use.ts'

/** What a request asks for by its tools. */
export function toolUses(request: OpenAiRequest): Use[] {
  const callable = callableTools(request)
  return [
    ...strictUses(request.tools),
    ...nameUses(request, callable),
    ...choiceUses(request),
    ...parallelUses(request, callable),
  ]
}

function strictUses(tools: readonly FunctionTool[]): Use[] {
  const strict = tools.filter((tool) => tool.strict)
  const areAll = strict.length === tools.length
  return strict.flatMap((tool) => {
    const features: Feature[] = ['function.strict']
    if (!isClosed({ type: 'object', ...tool.parameters })) {
      features.push('function.strict with an open object in its parameters')
    }
    if (!areAll) features.push('function.strict of some functions only')
    return features.map((feature) => ({ feature, path: strictPath(tool), strip: loosened }))
  })
}

function strictPath(tool: FunctionTool): string {
  return `${definitionOf(tool)}.strict`
}

const loosened: Strip = ({ tools }, lost) => ({
  tools: tools.map((tool) => (lost.has(strictPath(tool)) ? { ...tool, strict: false } : tool)),
})

/** Every object of a schema forbids further members. */
function isClosed(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isClosed)
  if (!isObject(schema)) return true
  const isOpen =
    [schema['type']].flat().includes('object') && schema['additionalProperties'] !== false
  return !isOpen && Object.values(schema).every(isClosed)
}

function nameUses(request: OpenAiRequest, callable: readonly FunctionTool[]): Use[] {
  const isNone = request.toolChoice?.kind === 'none'
  if (isNone && !request.messages.some(hasCalls)) return []
  const odd = callable.filter(({ name }) => !isPlainName(name))
  return odd.map((tool) => ({
    feature: 'function.name other than 1 to 64 letters, digits, _ and -',
    path: `${definitionOf(tool)}.name`,
  }))
}

function hasCalls(message: Message): boolean {
  return message.role === 'assistant' && message.calls.length > 0
}

function choiceUses(request: OpenAiRequest): Use[] {
  const { raw, toolChoice } = request
  if (!toolChoice) return []
  const path = raw['tool_choice'] ? 'tool_choice' : 'function_call'
  const strip = without('toolChoice')
  return choiceFeatures(request).map((feature) => ({ feature, path, strip }))
}

function choiceFeatures(request: OpenAiRequest): Feature[] {
  const { toolChoice: choice, tools, messages } = request
  const strangers: Feature[] = namesStrangers(request)
    ? ['tool_choice: a function that is not in tools']
    : []
  if (choice?.kind === 'custom') return ['tool_choice: custom']
  if (tools.length === 0) return [...strangers, 'tool_choice without tools']
  switch (choice?.kind) {
    case 'auto':
    case 'required':
      return [`tool_choice: ${choice.kind}`]
    case 'none':
      return [messages.some(hasCalls) ? 'tool_choice: none after calls' : 'tool_choice: none']
    case 'function':
      return [...strangers, 'tool_choice: a function']
    case 'allowed':
      return [...strangers, `tool_choice: allowed_tools, ${choice.mode}`]
    case undefined:
      return []
    default:
      return choice satisfies never
  }
}

function namesStrangers({ toolChoice: choice, tools }: OpenAiRequest): boolean {
  if (choice?.kind !== 'function' && choice?.kind !== 'allowed') return false
  const names = choice.kind === 'function' ? [choice.name] : choice.names
  const known = new Set(tools.map(({ name }) => name))
  return !names.every((name) => known.has(name))
}

function parallelUses(request: OpenAiRequest, callable: readonly FunctionTool[]): Use[] {
  if (request.parallelToolCalls !== false) return []
  const mayCall = callable.length > 0 && request.toolChoice?.kind !== 'none'
  const feature = mayCall
    ? 'parallel_tool_calls: false'
    : 'parallel_tool_calls: false without tools to call'
  return [{ feature, path: 'parallel_tool_calls', strip: without('parallelToolCalls') }]
}
