import { newCallId } from '../../core/ids.ts'
import type { ToolCall } from '../canonical/completion.ts'
import type { OpenAiRequest } from '../canonical/request.ts'
import { callableTools, definitionOf, type FunctionTool } from '../canonical/tools.ts'
import type { GeminiCall } from './response.ts'
import { functionSchema, type SchemaContext } from './schema/fit.ts'
import { type Signed, signed } from './signatures.ts'

/** With `allowed_tools` in mode auto the others are held back: AUTO takes no list of names. */
export function declaredTools(request: OpenAiRequest): readonly FunctionTool[] {
  const { toolChoice } = request
  const isNarrowed = toolChoice?.kind === 'allowed' && toolChoice.mode === 'auto'
  return isNarrowed ? callableTools(request) : request.tools
}

export function toolFields(request: OpenAiRequest, schemas: SchemaContext): object {
  const functionCallingConfig = callingConfig(request)
  const tools = declaredTools(request)
  if (tools.length === 0) return {}
  // One tool object holds all functions: some models refuse several.
  return {
    tools: [{ functionDeclarations: tools.map((tool) => declaration(tool, schemas)) }],
    toolConfig: functionCallingConfig && { functionCallingConfig },
  }
}

function declaration(tool: FunctionTool, schemas: SchemaContext): object {
  const { name, description, parameters } = tool
  const place = `${definitionOf(tool)}.parameters`
  return {
    name,
    description: description || undefined,
    ...(parameters && functionSchema(parameters, { ...schemas, place })),
  }
}

function callingConfig({ toolChoice }: OpenAiRequest): object | undefined {
  switch (toolChoice?.kind) {
    case 'none':
      return { mode: 'NONE' }
    case 'required':
      return { mode: 'ANY' }
    case 'function':
      return { mode: 'ANY', allowedFunctionNames: [toolChoice.name] }
    case 'allowed':
      return toolChoice.mode === 'required'
        ? { mode: 'ANY', allowedFunctionNames: toolChoice.names }
        : undefined
    case undefined:
    case 'auto':
    case 'custom':
      return undefined
    default:
      return toolChoice satisfies never
  }
}

/** A call as the client gets it, with the signature that newer models want back. */
export function toolCallOf(
  call: GeminiCall,
  signature: string | null | undefined,
): ToolCall & Signed {
  return {
    // Older models give no ids, and their answers may call one function twice.
    id: call.id || newCallId(),
    type: 'function',
    function: { name: call.name ?? '', arguments: call.args },
    ...signed(signature),
  }
}
