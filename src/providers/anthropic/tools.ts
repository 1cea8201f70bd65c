import type { CanonicalMessage } from '../canonical/messages.ts'
import type { PastCall } from '../canonical/past-call.ts'
import type { CanonicalRequest, WebSearch } from '../canonical/request.ts'
import { type FunctionTool, findToolMember, listOfferedTools } from '../canonical/tools.ts'
import { anthropicToolMembers } from '../canonical/vendor-fields.ts'
import {
  type BlockOrMark,
  CacheMark,
  type ClaudeBlock,
  placeMarks,
  readMark,
  readToolMark,
  toMarkedBlocks,
} from '../claude/cache-marks.ts'
import { limitParallelCalls, toClaudeToolChoice } from '../claude/tool-choice.ts'
import { contentParts, markRules } from './blocks.ts'

export interface ToolFields {
  readonly tools?: readonly ClaudeBlock[]
  readonly tool_choice?: object | undefined
}

/** Translates the offered functions and the choice among them. The API refuses a choice without tools. */
export function toToolFields(request: CanonicalRequest, canForce: boolean): ToolFields {
  const offered = new Set(listOfferedTools(request, canForce))
  const own = listVendorTools(request, canForce)
  if (offered.size + own.length === 0) return {}
  const functions = request.tools.flatMap((tool) => [
    ...(offered.has(tool) ? [toToolBlock(tool)] : []),
    ...readToolMark(tool),
  ])
  return {
    tools: [...placeMarks([functions], markRules).flat(), ...own],
    tool_choice: limitParallelCalls(toClaudeToolChoice(request, canForce), request),
  }
}

/** Lists the vendor's tools, with the search that `web_search_options` asks for. */
function listVendorTools(
  { vendorTools, webSearch, toolChoice }: CanonicalRequest,
  canForce: boolean,
): readonly ClaudeBlock[] {
  const given = vendorTools.map(({ raw }) => raw)
  const isSearching = given.some(({ name }) => name === searchName)
  const own = webSearch && !isSearching ? [...given, toSearchTool(webSearch)] : given
  // Where no call can be forced, a named tool is the only one on offer.
  const isNamed = toolChoice?.kind === 'function' && !canForce
  return isNamed ? own.filter(({ name }) => name === toolChoice.name) : own
}

const searchName = 'web_search'

/** The version that every model with a search accepts. */
function toSearchTool({ user_location: location }: WebSearch): ClaudeBlock {
  const { city, region, country, timezone } = location?.approximate ?? {}
  const place = { city, region, country, timezone }
  return {
    type: 'web_search_20250305',
    name: searchName,
    ...(location && {
      user_location: {
        type: 'approximate',
        ...Object.fromEntries(Object.entries(place).filter(([, name]) => name)),
      },
    }),
  }
}

function toToolBlock(tool: FunctionTool): ClaudeBlock {
  const { name, description, parameters, strict } = tool
  return {
    name,
    ...(description !== undefined && { description }),
    input_schema: parameters
      ? { type: 'object', ...parameters }
      : { type: 'object', properties: {} },
    strict: strict || undefined,
    ...readOwnMembers(tool),
  }
}

/** Reads the members of a tool that only this vendor has. Most tools have none. */
function readOwnMembers(tool: FunctionTool): object {
  const members: Record<string, unknown> = {}
  for (const name of anthropicToolMembers) {
    const member = findToolMember(tool, name)
    if (member) members[name] = member.value
  }
  return members
}

/** `own` are the members of the vendor's own block, if the client has returned it. */
export function toToolUse(
  call: PastCall,
  ids: RequestToolIds,
  own: ClaudeBlock = {},
): readonly BlockOrMark[] {
  const block = {
    ...own,
    type: 'tool_use',
    id: ids.assign(call.id),
    name: call.name,
    input: call.object,
  }
  return [block, ...readMark(call.raw)]
}

/** Marks inside of a result stay there. A mark without a block before it moves to the result itself. */
export function toToolResult(
  message: CanonicalMessage & { readonly role: 'tool' },
  ids: RequestToolIds,
): readonly BlockOrMark[] {
  const own = readMark(message.raw)
  const inner = toMarkedBlocks({ ...message, raw: {} }, contentParts)
  const [blocks = []] = placeMarks([inner], markRules)
  const content = typeof message.content === 'string' ? blocks[0]?.['text'] : blocks
  const result = {
    type: 'tool_result',
    tool_use_id: ids.resolve(message.callId),
    ...(blocks.length > 0 && { content }),
    ...(message.isError && { is_error: true }),
  }
  return [result, ...own, ...inner.slice(0, 1).filter((item) => item instanceof CacheMark)]
}

/**
 * Ids of tool calls in the alphabet of the API, `^[a-zA-Z0-9_-]+$`, each used once. Other vendors
 * write ids such as `functions.look:0`, and some clients count from 0 in every turn.
 */
export class RequestToolIds {
  readonly #latest = new Map<string, string>()
  readonly #taken = new Set<string>()
  readonly #copies = new Map<string, number>()

  /** Returns the id for a call that the client names `id`. */
  assign(id: string): string {
    const plain = toPlainId(id)
    let copies = this.#copies.get(plain) ?? 0
    let unique = plain
    while (this.#taken.has(unique)) unique = `${plain}_${++copies + 1}`
    this.#copies.set(plain, copies)
    this.#taken.add(unique)
    this.#latest.set(id, unique)
    return unique
  }

  /** Returns the id of the latest call that the client names `id`, for the result that answers it. */
  resolve(id: string): string {
    return this.#latest.get(id) ?? toPlainId(id)
  }
}

function toPlainId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, '_')
}
