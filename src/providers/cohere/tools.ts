import type { JsonObject } from '../../wire/json/parse.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { FunctionTool } from '../canonical/tools.ts'

export function toToolFields(request: CanonicalRequest): object {
  if (request.tools.length === 0) return {}
  const choice = toToolChoice(request)
  return {
    tools: request.tools.map(toCohereTool),
    ...(choice && { tool_choice: choice }),
    ...(request.tools.every(({ strict }) => strict) && { strict_tools: true }),
  }
}

function toCohereTool({ name, description, parameters }: FunctionTool): object {
  return {
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      parameters: isEmpty(parameters) ? noParameters : parameters,
    },
  }
}

function isEmpty(parameters: JsonObject | undefined): boolean {
  return parameters === undefined || Object.keys(parameters).length === 0
}

/** Cohere requires the field, also for a function without parameters. */
const noParameters = { type: 'object', properties: {} }

/** Cohere cannot force a particular tool. The translation table leaves only these two choices. */
function toToolChoice({ toolChoice: choice }: CanonicalRequest): 'NONE' | 'REQUIRED' | undefined {
  if (choice?.kind === 'none') return 'NONE'
  return choice?.kind === 'required' ? 'REQUIRED' : undefined
}
