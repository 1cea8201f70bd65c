import type { ToolChoice } from './fields.ts'
import type { OfferedTool, Toolbox } from './tools.ts'

/** The tools and the choice among them, as fields of the chat API. */
export interface ChosenTools {
  readonly tools: readonly OfferedTool[]
  /** A word, or the name of the function to call. */
  readonly choice: 'none' | 'auto' | 'required' | { readonly name: string } | undefined
  /** The choice is one that the chat API cannot express. */
  readonly isChoiceDropped: boolean
}

/** Applies the choice of a request to its tools. Without a tool there is no choice. */
export function chooseTools(toolbox: Toolbox, choice: ToolChoice | null | undefined): ChosenTools {
  const chosen = choose(toolbox.offered, choice)
  return chosen.tools.length > 0 ? chosen : { ...chosen, choice: undefined }
}

function choose(
  offered: readonly OfferedTool[],
  choice: ToolChoice | null | undefined,
): ChosenTools {
  if (choice === undefined || choice === null) return keep(offered, undefined)
  if (typeof choice === 'string') {
    return isWord(choice) ? keep(offered, choice) : dropChoice(offered)
  }
  switch (choice.type) {
    case 'function':
    case 'custom':
    case 'tool_search': {
      const name = new ToolIndex(offered).find(choice)
      return name === undefined ? dropChoice(offered) : keep(offered, { name })
    }
    case 'allowed_tools': {
      // Not every server of the chat API knows `allowed_tools`, so only these tools are sent.
      const allowed = findAllowed(offered, choice.tools ?? [])
      const mode = choice.mode ?? 'auto'
      const tools = offered.filter(({ name }) => allowed.has(name))
      return isWord(mode) ? keep(tools, mode) : dropChoice(tools)
    }
    default:
      return dropChoice(offered)
  }
}

function keep(tools: readonly OfferedTool[], choice: ChosenTools['choice']): ChosenTools {
  return { tools, choice, isChoiceDropped: false }
}

function dropChoice(tools: readonly OfferedTool[]): ChosenTools {
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

/** The offered tools by what a choice may name: both lists may be long. */
class ToolIndex {
  readonly #found = new Map<string, string>()

  constructor(offered: readonly OfferedTool[]) {
    for (const { identity, name } of offered) {
      const { type, namespace } = identity
      this.#add([type], name)
      this.#add([type, identity.name], name)
      this.#add([type, identity.name, namespace ?? null], name)
    }
  }

  /** Finds a tool by its name, and where a choice names no namespace, in any namespace. */
  find({ type, name, namespace }: NamedTool): string | undefined {
    if (type === 'tool_search') return this.#get([type])
    const exact = this.#get([type, name, namespace ?? null])
    return exact ?? (namespace ? undefined : this.#get([type, name]))
  }

  /** The first tool of a key counts. */
  #add(key: readonly unknown[], name: string): void {
    const text = JSON.stringify(key)
    if (!this.#found.has(text)) this.#found.set(text, name)
  }

  #get(key: readonly unknown[]): string | undefined {
    return this.#found.get(JSON.stringify(key))
  }
}

/** Returns the names of the functions that a list of allowed tools names, by themselves or by a namespace. */
function findAllowed(
  offered: readonly OfferedTool[],
  allowed: readonly NamedTool[],
): ReadonlySet<string> {
  const index = new ToolIndex(offered)
  const groups = allowed.filter(({ type }) => type === 'namespace')
  const namespaces = new Set(groups.map(({ name }) => name))
  const inside = offered.filter(({ identity: { namespace } }) => {
    return namespace !== undefined && namespaces.has(namespace)
  })
  const others = allowed.filter(({ type }) => type !== 'namespace')
  return new Set([
    ...inside.map(({ name }) => name),
    ...others.flatMap((tool) => index.find(tool) ?? []),
  ])
}
