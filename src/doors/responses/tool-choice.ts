import type { ToolChoice } from './fields.ts'
import { getFunctionName, type OfferedTool, type Toolbox } from './tools.ts'

/** The tools and the choice among them, as fields of the chat API. */
export interface ChatTools {
  readonly tools: readonly OfferedTool[]
  /** A word, or the name of the function to call. */
  readonly choice: 'none' | 'auto' | 'required' | { readonly name: string } | undefined
  /** The choice is one that the chat API cannot express. */
  readonly isChoiceDropped: boolean
}

/** Applies the choice of a request to its tools. Without a tool there is no choice. */
export function chooseTools(toolbox: Toolbox, choice: ToolChoice | null | undefined): ChatTools {
  const chosen = choose(toolbox.offered, choice)
  return chosen.tools.length > 0 ? chosen : { ...chosen, choice: undefined }
}

function choose(offered: readonly OfferedTool[], choice: ToolChoice | null | undefined): ChatTools {
  if (choice === undefined || choice === null) return keep(offered, undefined)
  if (typeof choice === 'string') {
    return isWord(choice) ? keep(offered, choice) : dropChoice(offered)
  }
  switch (choice.type) {
    case 'function':
    case 'custom':
    case 'tool_search': {
      const name = findNamed(offered, choice)
      return name === undefined ? dropChoice(offered) : keep(offered, { name })
    }
    case 'allowed_tools': {
      // Not every server of the chat API knows `allowed_tools`, so only these tools are sent.
      const allowed = new Set((choice.tools ?? []).flatMap((tool) => findAllowed(offered, tool)))
      const mode = choice.mode ?? 'auto'
      const tools = offered.filter(({ name }) => allowed.has(name))
      return isWord(mode) ? keep(tools, mode) : dropChoice(tools)
    }
    default:
      return dropChoice(offered)
  }
}

function keep(tools: readonly OfferedTool[], choice: ChatTools['choice']): ChatTools {
  return { tools, choice, isChoiceDropped: false }
}

function dropChoice(tools: readonly OfferedTool[]): ChatTools {
  return { tools, choice: undefined, isChoiceDropped: true }
}

function isWord(choice: string): choice is 'none' | 'auto' | 'required' {
  return choice === 'none' || choice === 'auto' || choice === 'required'
}

interface NamedTool {
  readonly type: string
  readonly name?: string | null | undefined
  readonly namespace?: string | null | undefined
}

/** Finds a tool by its name, and where a choice names no namespace, in any namespace. */
function findNamed(
  offered: readonly OfferedTool[],
  { type, name, namespace }: NamedTool,
): string | undefined {
  const ofType = offered.filter(({ identity }) => identity.type === type)
  if (type === 'tool_search') return ofType[0]?.name
  const named = ofType.filter(({ identity }) => identity.name === name)
  const exact = named.find(({ identity }) => identity.namespace === (namespace ?? undefined))
  return (exact ?? (namespace ? undefined : named[0]))?.name
}

function findAllowed(offered: readonly OfferedTool[], tool: NamedTool): readonly string[] {
  if (tool.type === 'namespace') {
    const inside = offered.filter(({ identity }) => identity.namespace === tool.name)
    return inside.map(({ identity }) => getFunctionName(identity))
  }
  const name = findNamed(offered, tool)
  return name === undefined ? [] : [name]
}
