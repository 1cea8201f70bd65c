import { toJsonSchema } from './json-schema.ts'
import { checkPart, type GeminiRequest, schemaObject } from './schema.ts'

/** The tools of a chat request, and where they come from. */
export interface WrittenTools {
  /** The members `tools`, `tool_choice` and `web_search_options`, as far as they are needed. */
  readonly fields: Readonly<Record<string, unknown>>
  /** The path of each tool. */
  readonly paths: readonly string[]
  /** The paths of what a chat request cannot say. */
  readonly dropped: readonly string[]
}

const searches: ReadonlySet<string> = new Set(['googleSearch', 'googleSearchRetrieval'])

/** Writes the functions, the choice among them and a search of the web. Other tools run only at Google. */
export function toChatTools(request: GeminiRequest): WrittenTools {
  const tools: object[] = []
  const paths: string[] = []
  const dropped: string[] = []
  let isSearching = false
  for (const [index, entry] of (request.tools ?? []).entries()) {
    for (const [at, declaration] of (entry.functionDeclarations ?? []).entries()) {
      const path = `tools.${index}.functionDeclarations.${at}`
      tools.push(toFunction(declaration, path))
      paths.push(path)
    }
    for (const [name, value] of Object.entries(entry)) {
      if (name === 'functionDeclarations' || value === null) continue
      if (searches.has(name)) isSearching = true
      else dropped.push(`tools.${index}.${name}`)
    }
  }
  const choice = toChoice(request, tools.length > 0)
  return {
    fields: {
      ...(tools.length > 0 && { tools }),
      ...choice.fields,
      ...(isSearching && { web_search_options: {} }),
    },
    paths,
    dropped: [...dropped, ...choice.dropped],
  }
}

type Declaration = NonNullable<
  NonNullable<GeminiRequest['tools']>[number]['functionDeclarations']
>[number]

function toFunction(declaration: Declaration, path: string): object {
  const { name, description, parameters, parametersJsonSchema } = declaration
  const given = parametersJsonSchema ?? parameters
  const place = `${path}.${parametersJsonSchema ? 'parametersJsonSchema' : 'parameters'}`
  const schema = isSet(given) ? toJsonSchema(checkPart(schemaObject, given, place)) : undefined
  return {
    type: 'function',
    function: {
      name: name ?? '',
      ...(description && { description }),
      ...(schema !== undefined && { parameters: schema }),
    },
  }
}

interface WrittenChoice {
  readonly fields: object
  readonly dropped: readonly string[]
}

/** The modes by their numbers: https://ai.google.dev/api/caching#FunctionCallingConfig */
const numbered = ['MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED']
const path = 'toolConfig.functionCallingConfig'

function toChoice({ toolConfig }: GeminiRequest, hasFunctions: boolean): WrittenChoice {
  const { mode: given, allowedFunctionNames: names } = toolConfig?.functionCallingConfig ?? {}
  const mode = typeof given === 'number' ? numbered[given] : given?.toUpperCase()
  if (!hasFunctions) return { fields: {}, dropped: [] }
  switch (mode) {
    case 'NONE':
      return { fields: { tool_choice: 'none' }, dropped: [] }
    case 'ANY':
      return { fields: { tool_choice: toRequired(names ?? []) }, dropped: [] }
    case 'VALIDATED':
      return { fields: { tool_choice: 'auto' }, dropped: [`${path}.mode`] }
    default:
      return { fields: mode === 'AUTO' ? { tool_choice: 'auto' } : {}, dropped: [] }
  }
}

function toRequired(names: readonly string[]): unknown {
  const [first] = names
  if (first === undefined) return 'required'
  if (names.length === 1) return { type: 'function', function: { name: first } }
  const tools = names.map((name) => ({ type: 'function', function: { name } }))
  return { type: 'allowed_tools', allowed_tools: { mode: 'required', tools } }
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}
