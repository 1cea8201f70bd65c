import type { Steps } from '../../core/steps.ts'
import { toJsonSchema } from './json-schema.ts'
import { checkPart, type GeminiRequest, schemaObject } from './schema.ts'
import { toStrictSchema } from './strict-schema.ts'

/** The tools of a chat request, and where they come from. */
export interface WrittenTools {
  /** The members `tools`, `tool_choice` and `web_search_options`, as far as they are needed. */
  readonly fields: Readonly<Record<string, unknown>>
  /** The path of each tool. */
  readonly paths: readonly string[]
  /** The paths of what a chat request cannot say. */
  readonly dropped: readonly string[]
}

/** How many functions are written at once: less than a millisecond's work. */
const writtenAtOnce = 16

const searches: ReadonlySet<string> = new Set(['googleSearch', 'googleSearchRetrieval'])

/** Writes the functions, the choice among them and a search of the web. Other tools run only at Google. */
export function* toChatTools(request: GeminiRequest): Steps<WrittenTools> {
  const tools: object[] = []
  const paths: string[] = []
  const dropped: string[] = []
  let isSearching = false
  const mode = readMode(request)
  for (const [index, entry] of (request.tools ?? []).entries()) {
    for (const [at, declaration] of (entry.functionDeclarations ?? []).entries()) {
      const path = `tools.${index}.functionDeclarations.${at}`
      const written = yield* toFunction(declaration, path)
      if (mode === 'VALIDATED') yield
      const strict = mode === 'VALIDATED' ? makeStrict(written) : undefined
      if (mode === 'VALIDATED') yield
      // A model is then held to some of the functions only.
      if (mode === 'VALIDATED' && !strict) dropped.push(`${choicePath}.mode`)
      tools.push({ type: 'function', function: strict ?? written })
      paths.push(path)
      if (paths.length % writtenAtOnce === 0) yield
    }
    for (const [name, value] of Object.entries(entry)) {
      if (name === 'functionDeclarations' || value === null) continue
      if (searches.has(name)) isSearching = true
      else dropped.push(`tools.${index}.${name}`)
    }
  }
  const allowed = request.toolConfig?.functionCallingConfig?.allowedFunctionNames ?? []
  return {
    fields: {
      ...(tools.length > 0 && { tools }),
      ...(tools.length > 0 && toChoice(mode, allowed)),
      ...(isSearching && { web_search_options: {} }),
    },
    paths,
    dropped,
  }
}

/** A function of a chat request. */
interface ChatFunction {
  readonly name: string
  readonly description?: string
  readonly parameters?: unknown
  readonly strict?: true
}

type Declaration = NonNullable<
  NonNullable<GeminiRequest['tools']>[number]['functionDeclarations']
>[number]

function* toFunction(declaration: Declaration, path: string): Steps<ChatFunction> {
  const { name, description, parameters, parametersJsonSchema } = declaration
  const given = parametersJsonSchema ?? parameters
  const place = `${path}.${parametersJsonSchema ? 'parametersJsonSchema' : 'parameters'}`
  const schema = isSet(given)
    ? yield* toJsonSchema(checkPart(schemaObject, given, place))
    : undefined
  return {
    name: name ?? '',
    ...(description && { description }),
    ...(schema !== undefined && { parameters: schema }),
  }
}

/** Returns a function to whose schema models are held; undefined where the schema would have to change. */
function makeStrict({ parameters, ...written }: ChatFunction): ChatFunction | undefined {
  const schema = toStrictSchema(parameters ?? { type: 'object', properties: {}, required: [] })
  return schema && { ...written, parameters: schema, strict: true }
}

/** The modes by their numbers: https://ai.google.dev/api/caching#FunctionCallingConfig */
const numbered = ['MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED']

/** The path of the member that chooses among the functions. */
export const choicePath = 'toolConfig.functionCallingConfig'

function readMode({ toolConfig }: GeminiRequest): string | undefined {
  const { mode } = toolConfig?.functionCallingConfig ?? {}
  return typeof mode === 'number' ? numbered[mode] : mode?.toUpperCase()
}

function toChoice(mode: string | undefined, names: readonly string[]): object {
  switch (mode) {
    case 'NONE':
      return { tool_choice: 'none' }
    case 'ANY':
      return { tool_choice: toRequired(names) }
    case 'VALIDATED':
      return { tool_choice: names.length === 0 ? 'auto' : toAllowed('auto', names) }
    case 'AUTO':
      return { tool_choice: 'auto' }
    default:
      return {}
  }
}

function toRequired(names: readonly string[]): unknown {
  const [first] = names
  if (first === undefined) return 'required'
  if (names.length === 1) return { type: 'function', function: { name: first } }
  return toAllowed('required', names)
}

function toAllowed(mode: 'auto' | 'required', names: readonly string[]): object {
  const tools = names.map((name) => ({ type: 'function', function: { name } }))
  return { type: 'allowed_tools', allowed_tools: { mode, tools } }
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}
