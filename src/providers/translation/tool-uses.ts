import { isObject } from '../../wire/json/parse.ts'
import type { CanonicalMessage } from '../canonical/messages.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import {
  type FunctionTool,
  findToolMember,
  getDefinitionPath,
  getStrictPath,
  isRunByClient,
  listCallableTools,
  type VendorTool,
} from '../canonical/tools.ts'
import { anthropicToolMembers } from '../canonical/vendor-fields.ts'
import { clearField, type FeatureUse, isPlainName, type StripFeature } from './feature-use.ts'
import type { Feature } from './table.ts'

/** Finds the features used by the tools of a request. */
export function findToolUses(request: CanonicalRequest): FeatureUse[] {
  const callable = listCallableTools(request)
  return [
    ...findVendorUses(request.vendorTools),
    ...findStrictUses(request.tools),
    ...findMemberUses(request.tools),
    ...findNameUses(request, callable),
    ...findChoiceUses(request),
    ...findParallelUses(request, callable),
  ]
}

function findVendorUses(tools: readonly VendorTool[]): FeatureUse[] {
  return tools.map((tool) => ({
    feature: getVendorFeature(tool),
    path: tool.path,
    strip: dropVendorTools,
  }))
}

function getVendorFeature(tool: VendorTool): Feature {
  switch (tool.owner) {
    case 'anthropic':
      return isRunByClient(tool)
        ? "tools: one of Anthropic's that the client runs"
        : 'tools: one that Anthropic runs'
    case 'google':
      return "tools: one of Google's"
    case 'bedrock':
      return 'tools: a system tool of AWS'
    default:
      return tool.owner satisfies never
  }
}

const dropVendorTools: StripFeature = ({ vendorTools }, lost) => ({
  vendorTools: vendorTools.filter(({ path }) => !lost.has(path)),
})

function findStrictUses(tools: readonly FunctionTool[]): FeatureUse[] {
  const strict = tools.filter((tool) => tool.strict)
  const areAll = strict.length === tools.length
  return strict.flatMap((tool) => {
    const features: Feature[] = ['function.strict']
    if (hasMap(tool.parameters)) features.push('function.strict with a map in its parameters')
    if (!isClosedSchema({ type: 'object', ...tool.parameters })) {
      features.push('function.strict with an open object in its parameters')
    }
    if (!areAll) features.push('function.strict of some functions only')
    return features.map((feature) => ({ feature, path: getStrictPath(tool), strip: clearStrict }))
  })
}

const clearStrict: StripFeature = ({ tools }, lost) => ({
  tools: tools.map((tool) => (lost.has(getStrictPath(tool)) ? { ...tool, strict: false } : tool)),
})

/** True when every object of a schema has `additionalProperties: false`. */
function isClosedSchema(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isClosedSchema)
  if (!isObject(schema)) return true
  const { type, additionalProperties: more } = schema
  const isObjects = Array.isArray(type) ? type.includes('object') : type === 'object'
  return !(isObjects && more !== false) && Object.values(schema).every(isClosedSchema)
}

/** True when a schema admits members that it does not name, which no grammar does. */
function hasMap(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasMap)
  if (!isObject(schema)) return false
  const { additionalProperties: more } = schema
  return more === true || isObject(more) || Object.values(schema).some(hasMap)
}

function findMemberUses(tools: readonly FunctionTool[]): FeatureUse[] {
  const uses: FeatureUse[] = []
  for (const tool of tools) {
    for (const name of anthropicToolMembers) {
      const member = findToolMember(tool, name)
      if (member) uses.push({ feature: `${name} of a tool`, path: member.path })
    }
  }
  return uses
}

function findNameUses(request: CanonicalRequest, callable: readonly FunctionTool[]): FeatureUse[] {
  const isNone = request.toolChoice?.kind === 'none'
  if (isNone && !request.messages.some(hasCalls)) return []
  const odd = callable.filter(({ name }) => !isPlainName(name))
  return odd.map((tool) => ({
    feature: 'function.name other than 1 to 64 letters, digits, _ and -',
    path: `${getDefinitionPath(tool)}.name`,
  }))
}

function hasCalls(message: CanonicalMessage): boolean {
  return message.role === 'assistant' && message.calls.length > 0
}

function findChoiceUses(request: CanonicalRequest): FeatureUse[] {
  const { raw, toolChoice } = request
  if (!toolChoice) return []
  const path = raw['tool_choice'] ? 'tool_choice' : 'function_call'
  const strip = clearField('toolChoice')
  return classifyChoice(request).map((feature) => ({ feature, path, strip }))
}

function classifyChoice(request: CanonicalRequest): Feature[] {
  const { toolChoice: choice, tools, vendorTools, messages } = request
  const strangers: Feature[] = namesUnknownFunction(request)
    ? ['tool_choice: a function that is not in tools']
    : []
  if (choice?.kind === 'custom') return ['tool_choice: custom']
  if (tools.length + vendorTools.length === 0) return [...strangers, 'tool_choice without tools']
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

function namesUnknownFunction({
  toolChoice: choice,
  tools,
  vendorTools,
}: CanonicalRequest): boolean {
  if (choice?.kind !== 'function' && choice?.kind !== 'allowed') return false
  const names = choice.kind === 'function' ? [choice.name] : choice.names
  const known = new Set<unknown>([
    ...tools.map(({ name }) => name),
    ...vendorTools.map(({ raw }) => raw['name']),
  ])
  return !names.every((name) => known.has(name))
}

function findParallelUses(
  request: CanonicalRequest,
  callable: readonly FunctionTool[],
): FeatureUse[] {
  if (request.parallelToolCalls !== false) return []
  const hasTools = callable.length > 0 || request.vendorTools.some(isRunByClient)
  const mayCall = hasTools && request.toolChoice?.kind !== 'none'
  const feature = mayCall
    ? 'parallel_tool_calls: false'
    : 'parallel_tool_calls: false without tools to call'
  return [{ feature, path: 'parallel_tool_calls', strip: clearField('parallelToolCalls') }]
}
