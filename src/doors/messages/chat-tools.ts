import { isClientToolType } from '../../core/client-tools.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import type { ChatTarget } from '../translated-link.ts'
import { readCacheControl } from './chat-parts.ts'
import { listPlacedTools } from './offered-tools.ts'
import { type CountRequest, checkPart, inputSchema, type Tool } from './schema.ts'

/** The tool fields of a chat request. */
export interface ChatTools {
  readonly fields: {
    readonly tools?: Readonly<Record<string, unknown>>[]
    readonly tool_choice?: unknown
    readonly parallel_tool_calls?: false
  }
  /** The path of each tool's definition. */
  readonly paths: readonly string[]
  /** The paths of tools that a vendor runs or defines, and of a choice that names one. */
  readonly dropped: readonly string[]
}

/**
 * Writes the tools that have a schema, and those that the client runs where the upstream knows them. All others
 * exist only at the vendor that defines them. Tools that are not loaded yet are left out: no model may see them.
 */
export function toChatTools(request: CountRequest, target: ChatTarget): ChatTools {
  const { tools, tool_choice: choice } = request
  const placed = listPlacedTools(request)
  const offered = placed.filter(({ tool, isWaiting }) => isSent(tool, target) && !isWaiting)
  const paths = offered.map(({ path }) => path)
  const names = new Set(offered.map(({ tool }) => tool.name))
  const dropped = placed.flatMap(({ tool, path }) => (isSent(tool, target) ? [] : [path]))
  const hasTools = placed.length > 0 || (tools ?? []).length > 0
  const isLost = choice?.type === 'tool' && hasTools && !names.has(choice.name)
  const known = choice && !isLost ? toToolChoice(choice) : undefined
  if (choice && known === undefined) dropped.push('tool_choice')
  if (offered.length === 0) return { fields: {}, paths, dropped }
  return {
    fields: {
      tools: offered.map(({ tool, path }) => toChatTool(tool, path, target)),
      ...(known !== undefined && { tool_choice: known }),
      ...(choice?.disable_parallel_tool_use && { parallel_tool_calls: false }),
    },
    paths,
    dropped,
  }
}

function isSent(tool: Tool, { takesClientTools }: ChatTarget): boolean {
  return isFunction(tool) || (takesClientTools && isClientToolType(tool.type))
}

function isFunction({ type }: Tool): boolean {
  return type === undefined || type === null || type === 'custom'
}

function toChatTool(
  tool: Tool,
  path: string,
  target: ChatTarget,
): Readonly<Record<string, unknown>> {
  if (!isFunction(tool)) return tool
  const { name, description, strict, input_schema: schema } = tool
  if (!name) throw new UntranslatableError(`${path}.name is required`, `${path}.name`)
  const parameters = checkPart(inputSchema, schema, `${path}.input_schema`)
  return {
    type: 'function',
    function: {
      name,
      ...(description && { description }),
      parameters,
      ...(strict && { strict }),
    },
    ...readCacheControl(tool, target),
  }
}

/** Undefined for a type that is newer than this code. */
function toToolChoice({
  type,
  name,
}: NonNullable<CountRequest['tool_choice']>): string | object | undefined {
  switch (type) {
    case 'auto':
    case 'none':
      return type
    case 'any':
      return 'required'
    case 'tool':
      return { type: 'function', function: { name } }
    default:
      return undefined
  }
}
