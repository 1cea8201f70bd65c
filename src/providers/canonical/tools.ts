import * as z from 'zod'
import { list, loose, validateAsSent } from '../../core/as-sent.ts'
import { isClientToolType } from '../../core/client-tools.ts'
import { untranslatableField } from '../../core/invalid-field.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import { isObject, type JsonObject } from '../../wire/json/parse.ts'

export interface FunctionTool {
  readonly name: string
  readonly description: string | undefined
  /** A JSON schema, the client's own object. */
  readonly parameters: JsonObject | undefined
  readonly strict: boolean
  readonly path: string
  readonly raw: JsonObject
}

/** The vendors that define tools of their own. */
export type ToolOwner = 'anthropic' | 'google' | 'bedrock'

/** A tool that is no function. It exists at the vendor that defines it, which mostly runs it as well. */
export interface VendorTool {
  readonly owner: ToolOwner
  /** The dotted path. */
  readonly path: string
  /** The client's own object, which goes to the vendor as it is. */
  readonly raw: JsonObject
}

export type ToolChoice =
  | { readonly kind: 'auto' | 'none' | 'required' }
  | { readonly kind: 'function'; readonly name: string }
  /** Only the named functions may be called (`auto`), or one of them must be (`required`). */
  | {
      readonly kind: 'allowed'
      readonly mode: 'auto' | 'required'
      readonly names: readonly string[]
    }
  /** One tool that is not a function. */
  | { readonly kind: 'custom' }

/** What a request may hold that no translation reads; each has a row in the translation table. */
export type UnreadFeature =
  | 'tools of another type'
  | 'tool_choice with another value'
  | 'function_call with another value (legacy)'
  | 'reasoning_effort with another value'
  | 'response_format of another type'

/** A field of a request that the gateway reads as absent. */
export interface UnreadField {
  readonly feature: UnreadFeature
  /** The dotted path. */
  readonly path: string
}

export interface OfferedTools {
  /** The functions on offer, from `tools` or the legacy `functions`; empty when there are none. */
  readonly tools: readonly FunctionTool[]
  readonly vendorTools: readonly VendorTool[]
  /** The tools that are neither functions nor those of a known vendor. */
  readonly otherTools: readonly UnreadField[]
}

const text = z.string().nullish()
/** The client's own object, because a copy could lose members such as `__proto__`. */
export const jsonObject = z.custom<JsonObject>(isObject, 'must be an object').nullish()

const functionDefinition = loose({
  name: z.string(),
  description: text,
  parameters: jsonObject,
  strict: z.boolean().nullish(),
})

const named = loose({ name: z.string() })

/** The schemas of the tool fields. A choice is a word or an object with a `type`. */
export const toolFields = {
  tools: list(loose({ type: text, function: functionDefinition.nullish() })).nullish(),
  functions: list(functionDefinition).nullish(),
  tool_choice: z.union([z.string(), loose({ type: z.string() })]).nullish(),
  function_call: z.union([z.string(), named]).nullish(),
}

type Fields = z.infer<z.ZodObject<typeof toolFields>>

/** Throws `UntranslatableError` for an entry of `tools` that is neither a function nor a vendor tool. */
export function readTools({ tools, functions }: Fields): OfferedTools {
  if (!tools) {
    const legacy = (functions ?? []).map((f, index) => toFunctionTool(f, f, `functions.${index}`))
    return { tools: legacy, vendorTools: [], otherTools: [] }
  }
  const found: FunctionTool[] = []
  const vendorTools: VendorTool[] = []
  const otherTools: UnreadField[] = []
  for (const [index, tool] of tools.entries()) {
    const path = `tools.${index}`
    if (tool.function) found.push(toFunctionTool(tool.function, tool, path))
    else if (isOfAnotherType(tool)) {
      const owner = findOwner(tool)
      if (owner) vendorTools.push({ owner, path, raw: tool })
      else otherTools.push({ feature: 'tools of another type', path })
    } else throw new UntranslatableError(`${path}.function is required`, `${path}.function`)
  }
  return { tools: found, vendorTools, otherTools }
}

/** True for a tool that a vendor runs: named by its `type`, or by its only member as Google's are. */
function isOfAnotherType({ type, ...members }: JsonObject): boolean {
  if (typeof type === 'string') return type !== 'function'
  return members['name'] === undefined && Object.values(members).some(isObject)
}

/**
 * Returns the vendor that defines a tool. Anthropic's types end in a date, Google's tools have no type, and
 * AWS runs system tools.
 */
function findOwner({ type, systemTool }: JsonObject): ToolOwner | undefined {
  if (typeof type === 'string') return anthropicTypes.test(type) ? 'anthropic' : undefined
  return systemTool === undefined ? 'google' : 'bedrock'
}

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview */
const anthropicTypes = /_20\d{6}$|^mcp_toolset$/

/** True for a tool that Anthropic defines and the client runs, whose calls are calls like any other. */
export function isRunByClient({ owner, raw }: VendorTool): boolean {
  return owner === 'anthropic' && isClientToolType(raw['type'])
}

function toFunctionTool(
  { name, description, parameters, strict }: z.infer<typeof functionDefinition>,
  raw: JsonObject,
  path: string,
): FunctionTool {
  return {
    name,
    description: description ?? undefined,
    parameters: parameters ?? undefined,
    strict: strict ?? false,
    path,
    raw,
  }
}

/**
 * Reads `tool_choice` or the legacy `function_call`. Calls `onUnread` for an unknown value, which is read
 * as absent.
 */
export function readToolChoice(
  fields: Fields,
  onUnread: (unread: UnreadField) => void,
): ToolChoice | undefined {
  const { tool_choice: choice, function_call: legacy } = fields
  if (choice !== undefined && choice !== null) {
    const known = typeof choice === 'string' ? parseChoiceName(choice) : parseChoiceObject(choice)
    if (!known) onUnread({ feature: 'tool_choice with another value', path: 'tool_choice' })
    return known
  }
  if (legacy === undefined || legacy === null) return undefined
  if (typeof legacy !== 'string') return { kind: 'function', name: legacy.name }
  if (legacy === 'auto' || legacy === 'none') return { kind: legacy }
  onUnread({ feature: 'function_call with another value (legacy)', path: 'function_call' })
  return undefined
}

function parseChoiceName(name: string): ToolChoice | undefined {
  return name === 'auto' || name === 'none' || name === 'required' ? { kind: name } : undefined
}

const functionChoice = loose({ function: named })

const allowedTools = loose({
  allowed_tools: loose({
    mode: z.string(),
    tools: list(loose({ function: named.optional() })),
  }),
})

function parseChoiceObject(choice: { readonly type: string }): ToolChoice | undefined {
  switch (choice.type) {
    case 'function':
      return { kind: 'function', name: parseChoice(functionChoice, choice).function.name }
    case 'allowed_tools': {
      const { mode, tools } = parseChoice(allowedTools, choice).allowed_tools
      if (mode !== 'auto' && mode !== 'required') return undefined
      return { kind: 'allowed', mode, names: tools.flatMap((tool) => tool.function?.name ?? []) }
    }
    case 'custom':
      return { kind: 'custom' }
    default:
      return undefined
  }
}

function parseChoice<Value>(schema: z.ZodType<Value>, choice: unknown): Value {
  const parsed = validateAsSent(schema, choice)
  if (!parsed.success) throw untranslatableField(parsed.error, 'tool_choice')
  return parsed.data
}

/** A member of a tool that clients put beside `function` or inside of it. */
export interface ToolMember {
  readonly value: unknown
  /** The dotted path. */
  readonly path: string
}

/** Finds a member of a tool; undefined when the client did not set it. */
export function findToolMember(tool: FunctionTool, name: string): ToolMember | undefined {
  const { function: definition } = tool.raw
  const beside = tool.raw[name] ?? undefined
  if (beside !== undefined) return { value: beside, path: `${tool.path}.${name}` }
  const inside = isObject(definition) ? (definition[name] ?? undefined) : undefined
  return inside === undefined ? undefined : { value: inside, path: `${tool.path}.function.${name}` }
}

/** Returns the path of a function's definition. A legacy function is its own entry. */
export function getDefinitionPath({ path }: FunctionTool): string {
  return path.startsWith('functions.') ? path : `${path}.function`
}

/** Returns the path of a function's `strict`. */
export function getStrictPath(tool: FunctionTool): string {
  return `${getDefinitionPath(tool)}.strict`
}

/** Lists the functions that may be called: those on offer, limited by `allowed_tools`. */
export function listCallableTools({
  tools,
  toolChoice,
}: {
  readonly tools: readonly FunctionTool[]
  readonly toolChoice: ToolChoice | undefined
}): readonly FunctionTool[] {
  if (toolChoice?.kind !== 'allowed') return tools
  const names = new Set(toolChoice.names)
  return tools.filter(({ name }) => names.has(name))
}

/** Does the same, but when a call cannot be forced, a named function is the only one offered. */
export function listOfferedTools(
  request: Parameters<typeof listCallableTools>[0],
  mayForce: boolean,
): readonly FunctionTool[] {
  const { tools, toolChoice } = request
  return toolChoice?.kind === 'function' && !mayForce
    ? tools.filter(({ name }) => name === toolChoice.name)
    : listCallableTools(request)
}
