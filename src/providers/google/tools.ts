import { newCallId } from '../../core/ids.ts'
import type { ToolCall } from '../canonical/completion.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { type FunctionTool, getDefinitionPath, listCallableTools } from '../canonical/tools.ts'
import type { GeminiCall } from './response.ts'
import { type SchemaContext, toParameterFields } from './schema/fit.ts'
import { type SignatureFields, signatureFields } from './signatures.ts'

/** With `allowed_tools` in mode auto the others are held back: AUTO takes no list of names. */
export function selectDeclaredTools(request: CanonicalRequest): readonly FunctionTool[] {
  const { toolChoice } = request
  const isNarrowed = toolChoice?.kind === 'allowed' && toolChoice.mode === 'auto'
  return isNarrowed ? listCallableTools(request) : request.tools
}

export function toToolFields(request: CanonicalRequest, schemas: SchemaContext): object {
  const functionCallingConfig = toCallingConfig(request)
  const tools = selectDeclaredTools(request)
  if (tools.length === 0) return {}
  // One tool object holds all functions: some models refuse several.
  return {
    tools: [{ functionDeclarations: tools.map((tool) => toDeclaration(tool, schemas)) }],
    toolConfig: functionCallingConfig && { functionCallingConfig },
  }
}

function toDeclaration(tool: FunctionTool, schemas: SchemaContext): object {
  const { name, description, parameters } = tool
  const path = `${getDefinitionPath(tool)}.parameters`
  return {
    name,
    description: description || undefined,
    ...(parameters && toParameterFields(parameters, { ...schemas, path })),
  }
}

function toCallingConfig({ toolChoice }: CanonicalRequest): object | undefined {
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
export function toOpenAiToolCall(
  call: GeminiCall,
  signature: string | null | undefined,
): ToolCall & SignatureFields {
  return {
    // Older models give no ids, and their answers may call one function twice.
    id: call.id || newCallId(),
    type: 'function',
    function: { name: call.name ?? '', arguments: call.args },
    ...signatureFields(signature),
  }
}
