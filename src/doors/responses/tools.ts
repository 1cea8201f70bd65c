import * as z from 'zod'
import { list, loose, validateAsSent } from '../../core/as-sent.ts'
import { untranslatableField } from '../../core/invalid-field.ts'
import type { Steps } from '../../core/steps.ts'
import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import { joinToolName, splitToolName, type ToolName, toolSearchName } from './tool-names.ts'

/** What a call of a chat function is in the Responses API. */
export interface ToolIdentity extends ToolName {
  readonly type: 'function' | 'custom' | 'tool_search'
}

/** A tool as a chat function, and its path in the client's request. */
export interface OfferedTool {
  readonly identity: ToolIdentity
  /** The name of the chat function. */
  readonly name: string
  readonly description: string | undefined
  /** A JSON schema, the client's own object. */
  readonly parameters: object | undefined
  readonly isStrict: boolean
  readonly path: string
}

/** How many tools are added at once: less than a millisecond's work. */
const addedAtOnce = 16

const text = z.string().nullish()
const jsonObject = z.custom<JsonObject>(isObject, 'must be an object').nullish()

const functionTool = loose({
  name: z.string().min(1),
  description: text,
  parameters: jsonObject,
  strict: z.boolean().nullish(),
  defer_loading: z.boolean().nullish(),
})

const customTool = loose({
  name: z.string().min(1),
  description: text,
  format: loose({ type: z.string(), syntax: text, definition: text }).nullish(),
  defer_loading: z.boolean().nullish(),
})

const namespaceTool = loose({
  name: z.string(),
  description: text,
  tools: list(loose({ type: z.string() })),
})

const searchTool = loose({ execution: text, description: text, parameters: jsonObject })

/**
 * Collects the tools of a request: those of its `tools`, and those that its input brings. Tools that only
 * a vendor can run are not chat functions.
 */
export class ToolCollector {
  readonly #offered = new Map<string, OfferedTool>()
  readonly #names = new Map<string, ToolIdentity>()
  readonly #vendorRun: string[] = []
  /** The tools that become available only when the client's search finds them. */
  readonly #deferred = new Map<string, OfferedTool>()
  #canSearch = false

  /** Adds a list of tools at a path. Throws `UntranslatableError` for a malformed one. */
  add(tools: readonly JsonObject[], path: string): Steps<unknown> {
    return this.#addList(tools, { path })
  }

  /** Adds the tools that a search has found. Returns the names of their chat functions. */
  addFound(tools: readonly JsonObject[], path: string): Steps<readonly string[]> {
    return this.#addList(tools, { path, isFound: true })
  }

  /** Records a call of the conversation, whose tool the request may not offer. Returns the function's name. */
  addCalled(identity: ToolIdentity): string {
    const name = getFunctionName(identity)
    if (!this.#names.has(name)) this.#names.set(name, identity)
    return name
  }

  finish(): Toolbox {
    // Without a search that the client runs, nothing would ever make a deferred tool available.
    if (!this.#canSearch) for (const tool of this.#deferred.values()) this.#offer(tool)
    return {
      offered: [...this.#offered.values()],
      names: this.#names,
      vendorRun: this.#vendorRun,
    }
  }

  /** Returns the names of the functions that a list of entries stands for. Its place has the path of the list. */
  *#addList(
    tools: readonly JsonObject[],
    { group, ...place }: ToolPlace,
  ): Steps<readonly string[]> {
    const names: string[] = []
    for (const [index, tool] of tools.entries()) {
      const path = `${place.path}.${index}`
      if (tool['type'] === 'namespace' && place.namespace === undefined) {
        for (const name of yield* this.#addNamespace(tool, { ...place, path })) names.push(name)
      } else {
        // Functions have no groups, so the first one describes the group.
        const own = index === 0 ? { ...place, path, group } : { ...place, path }
        for (const name of this.#addOne(tool, own)) names.push(name)
      }
      if (index % addedAtOnce === addedAtOnce - 1) yield
    }
    return names
  }

  *#addNamespace(tool: JsonObject, place: ToolPlace): Steps<readonly string[]> {
    const { name, description, tools } = parse(namespaceTool, tool, place.path)
    return yield* this.#addList(tools, {
      ...place,
      path: `${place.path}.tools`,
      namespace: name,
      group: description ?? undefined,
    })
  }

  /** Returns the name of the function that a tool stands for, or no name. */
  #addOne(tool: JsonObject, place: ToolPlace): readonly string[] {
    const { path, namespace } = place
    switch (tool['type']) {
      case 'function': {
        const { name, description, parameters, strict, defer_loading } = parse(
          functionTool,
          tool,
          path,
        )
        const identity = { type: 'function', namespace, name } as const
        const offered = {
          ...describe(identity, place, description),
          parameters: parameters ?? undefined,
          isStrict: strict === true,
        }
        return this.#place(offered, place, defer_loading === true)
      }
      case 'custom': {
        const { name, description, format, defer_loading } = parse(customTool, tool, path)
        const identity = { type: 'custom', namespace, name } as const
        const offered = {
          ...describe(identity, place, joinTexts([description, describeGrammar(format)])),
          parameters: inputSchema,
          isStrict: false,
        }
        return this.#place(offered, place, defer_loading === true)
      }
      case 'tool_search': {
        const { execution, description, parameters } = parse(searchTool, tool, path)
        if (execution !== 'client') break
        this.#canSearch = true
        const offered = {
          ...describe(toolSearch, place, description ?? 'Searches for further tools.'),
          parameters: parameters ?? querySchema,
          isStrict: false,
        }
        return this.#place(offered, place, false)
      }
    }
    this.#vendorRun.push(path)
    return []
  }

  #place(tool: OfferedTool, { isFound }: ToolPlace, isDeferred: boolean): readonly string[] {
    if (isDeferred && !isFound) this.#deferred.set(tool.name, tool)
    else this.#offer(tool)
    return [tool.name]
  }

  /** A later definition of a tool replaces an earlier one: vendors refuse two functions of one name. */
  #offer(tool: OfferedTool): void {
    this.#deferred.delete(tool.name)
    this.#offered.set(tool.name, tool)
    this.#names.set(tool.name, tool.identity)
  }
}

/** The tools of one request. */
export interface Toolbox {
  readonly offered: readonly OfferedTool[]
  /** The tools by the names of their functions, with those that only the conversation calls. */
  readonly names: ToolIdentities
  /** The paths of the tools that no chat function can stand in for. */
  readonly vendorRun: readonly string[]
}

export type ToolIdentities = ReadonlyMap<string, ToolIdentity>

interface ToolPlace {
  readonly path: string
  readonly namespace?: string | undefined
  /** The description of the namespace. */
  readonly group?: string | undefined
  readonly isFound?: boolean
}

/** The search for tools that the client runs. */
export const toolSearch: ToolIdentity = Object.freeze({
  type: 'tool_search',
  namespace: undefined,
  name: 'tool_search',
})

/** Returns the name of a tool's chat function. */
export function getFunctionName(identity: ToolIdentity): string {
  return identity.type === 'tool_search' ? toolSearchName : joinToolName(identity)
}

/** Finds the tool that the model calls by the name of a function; a name that is unknown is split. */
export function findTool(names: ToolIdentities, name: string): ToolIdentity {
  return names.get(name) ?? { type: 'function', ...splitToolName(name) }
}

function describe(
  identity: ToolIdentity,
  { path, group }: ToolPlace,
  description: string | null | undefined,
): Pick<OfferedTool, 'identity' | 'name' | 'description' | 'path'> {
  const name = getFunctionName(identity)
  return { identity, name, description: joinTexts([group, description]), path }
}

function joinTexts(texts: readonly (string | null | undefined)[]): string | undefined {
  return texts.filter(Boolean).join('\n\n') || undefined
}

/** The parameters of a function that stands in for a custom tool, whose input is free text. */
const inputSchema = Object.freeze({
  type: 'object',
  properties: { input: { type: 'string', description: 'The input of the tool, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
})

const querySchema = Object.freeze({
  type: 'object',
  properties: { query: { type: 'string' } },
  required: ['query'],
})

type Format = z.infer<typeof customTool>['format']

/** Describes the grammar of a custom tool, which a function cannot enforce. */
function describeGrammar(format: Format): string | undefined {
  if (!format?.definition) return undefined
  return `The input must match this ${format.syntax ?? ''} grammar:\n${format.definition}`
}

function parse<Value>(schema: z.ZodType<Value>, value: unknown, path: string): Value {
  const parsed = validateAsSent(schema, value)
  if (!parsed.success) throw untranslatableField(parsed.error, path)
  return parsed.data
}
