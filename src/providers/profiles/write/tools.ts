import type { ChatRequest } from '../../../core/chat.ts'
import type { Profile, ToolChoiceWord } from '../../../core/profile.ts'
import { isObject, type JsonObject } from '../../../wire/json/parse.ts'
import type { ToolNames } from '../../../wire/tool-names.ts'
import { type GrowthBudget, newGrowthBudget, writeSchema } from './schema.ts'

/** The tool fields of a request, and the paths of what is left out. */
export interface WrittenTools {
  readonly fields: JsonObject
  readonly dropped: readonly string[]
}

interface ToolContext {
  readonly profile: Profile
  readonly names: ToolNames
  readonly isThinking: boolean
}

export function writeTools(request: ChatRequest, context: ToolContext): WrittenTools {
  const { profile, names, isThinking } = context
  const tools = request.tools ?? []
  if (tools.length === 0) return { fields: {}, dropped: [] }
  if (profile.dropParameters.includes('tools')) return { fields: {}, dropped: ['tools'] }
  const accepted = (isThinking ? profile.toolChoicesThinking : undefined) ?? profile.toolChoices
  const choice = request['tool_choice']
  const word = toWord(choice)
  // Without the word, a request that must not call any tool offers none.
  if (word === 'none' && !accepted.includes('none')) return { fields: {}, dropped: [] }
  const isLost = word !== undefined && !accepted.includes(word)
  const copies = newGrowthBudget()
  const parallel = request['parallel_tool_calls']
  const asksParallel = typeof parallel === 'boolean'
  const strict = tools.flatMap((tool, index) =>
    isStrict(tool) && !profile.strictTools ? [`tools.${index}.function.strict`] : [],
  )
  return {
    fields: {
      tools: tools.map((tool) => writeTool(tool, context, copies)),
      ...(word !== undefined && { tool_choice: isLost ? 'auto' : rename(choice, names) }),
      ...(asksParallel && profile.parallelToolCalls && { parallel_tool_calls: parallel }),
    },
    dropped: [
      ...strict,
      ...(isLost ? ['tool_choice'] : []),
      ...(parallel === false && !profile.parallelToolCalls ? ['parallel_tool_calls'] : []),
    ],
  }
}

function writeTool(
  tool: JsonObject,
  { profile, names }: ToolContext,
  copies: GrowthBudget,
): JsonObject {
  const { function: called, cache_control: mark, ...rest } = tool
  if (!isObject(called)) return tool
  const { name, parameters, strict, ...others } = called
  return {
    ...rest,
    function: {
      name: names.shorten(String(name)),
      ...others,
      parameters: writeSchema(parameters, profile, copies),
      ...(profile.strictTools && strict !== undefined && { strict }),
    },
    ...(mark !== undefined && profile.cacheControl && { cache_control: mark }),
  }
}

function isStrict({ function: called }: JsonObject): boolean {
  return isObject(called) && called['strict'] === true
}

/** Undefined where the request leaves the choice open. */
function toWord(choice: unknown): ToolChoiceWord | undefined {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  return isObject(choice) ? 'named' : undefined
}

function rename(choice: unknown, names: ToolNames): unknown {
  if (!isObject(choice) || !isObject(choice['function'])) return choice
  const called = choice['function']
  return { ...choice, function: { ...called, name: names.shorten(String(called['name'])) } }
}
