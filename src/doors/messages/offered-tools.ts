import { isObject } from '../../wire/json/parse.ts'
import { type CountRequest, checkPart, type Tool, toolDefinition } from './schema.ts'

/** A tool of a request, and the path of its definition. */
export interface PlacedTool {
  readonly tool: Tool
  readonly path: string
  /** It has `defer_loading`, and nothing in the conversation has loaded it: the model does not get it yet. */
  readonly isWaiting: boolean
}

/**
 * Lists the tools at the end of the conversation: those of the request and those that a `tool_addition` defines,
 * without what a `tool_removal` has taken away. The last change of a name counts.
 * https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool
 */
export function listPlacedTools({
  tools,
  messages,
  tool_choice: choice,
}: CountRequest): readonly PlacedTool[] {
  const set = new ToolSet(tools ?? [])
  for (const [index, { content }] of messages.entries()) {
    if (typeof content !== 'string') readBlocks(content, `messages.${index}.content`, set)
  }
  if (choice?.name) set.load(choice.name)
  return set.list()
}

type Block = Readonly<Record<string, unknown>>

function readBlocks(blocks: unknown, path: string, set: ToolSet): void {
  if (!Array.isArray(blocks)) return
  blocks.forEach((block: unknown, index) => {
    if (isObject(block)) readBlock(block, `${path}.${index}`, set)
  })
}

function readBlock(block: Block, path: string, set: ToolSet): void {
  switch (block['type']) {
    case 'tool_addition':
      return addTool(block['tool'], `${path}.tool`, set)
    case 'tool_removal':
      return removeTool(block['tool'], set)
    case 'mid_conv_system':
      return readBlocks(block['content'], `${path}.content`, set)
    case 'compaction':
      return readBlocks(block['tool_changes'], `${path}.tool_changes`, set)
    case 'tool_reference':
      return set.load(block['tool_name'])
    case 'tool_use':
      return set.load(block['name'])
    case 'tool_result':
      // Results are long, and load what is deferred, nothing else.
      return set.hasDeferred ? readBlocks(block['content'], `${path}.content`, set) : undefined
  }
}

/** References to what an MCP server has mean nothing here, because no other vendor asks such a server. */
function addTool(tool: unknown, path: string, set: ToolSet): void {
  if (!isObject(tool)) return
  if (tool['type'] === 'tool_reference') set.add(tool['name'])
  if (tool['type'] !== 'tool_definition') return
  set.define(checkPart(toolDefinition, tool['definition'], `${path}.definition`), {
    path: `${path}.definition`,
  })
}

function removeTool(tool: unknown, set: ToolSet): void {
  if (isObject(tool) && tool['type'] === 'tool_reference') set.remove(tool['name'])
}

interface Entry {
  tool: Tool
  path: string
  isLoaded: boolean
  isRemoved: boolean
}

/** The tools of a conversation, as its blocks change them. */
class ToolSet {
  readonly #entries: Entry[]
  readonly hasDeferred: boolean

  constructor(tools: readonly Tool[]) {
    // A search that only its vendor can run would leave its tools out of reach of all other models.
    const isSearchable = tools.some(isVendorSearch)
    this.#entries = tools.map((tool, index) => ({
      tool,
      path: `tools.${index}`,
      isLoaded: tool['defer_loading'] !== true || isSearchable,
      isRemoved: false,
    }))
    this.hasDeferred = this.#entries.some(({ isLoaded }) => !isLoaded)
  }

  /** Loads a deferred tool. */
  load(name: unknown): void {
    if (this.hasDeferred) for (const entry of this.#find(name)) entry.isLoaded = true
  }

  add(name: unknown): void {
    for (const entry of this.#find(name)) Object.assign(entry, present)
  }

  remove(name: unknown): void {
    for (const entry of this.#find(name)) entry.isRemoved = true
  }

  /** Adds a tool, in the place of one with the same name. */
  define(tool: Tool, { path }: { readonly path: string }): void {
    const [known] = this.#find(tool.name)
    if (known) Object.assign(known, { tool, path, ...present })
    else this.#entries.push({ tool, path, ...present })
  }

  list(): readonly PlacedTool[] {
    return this.#entries.flatMap(({ tool, path, isLoaded, isRemoved }) =>
      isRemoved ? [] : [{ tool, path, isWaiting: !isLoaded }],
    )
  }

  #find(name: unknown): readonly Entry[] {
    if (typeof name !== 'string') return []
    return this.#entries.filter(({ tool }) => tool.name === name)
  }
}

const present = { isLoaded: true, isRemoved: false }

function isVendorSearch({ type }: Tool): boolean {
  return type?.startsWith('tool_search_tool_') === true
}
