import { newCallId } from '../../core/ids.ts'
import type { Steps } from '../../core/steps.ts'
import type { ToolNames } from '../../wire/tool-names.ts'
import type { ToolCall } from '../canonical/completion.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { type FunctionTool, getDefinitionPath, listCallableTools } from '../canonical/tools.ts'
import type { GeminiCall } from './response.ts'
import { type SchemaContext, toParameterFields } from './schema/fit.ts'
import { type SignatureFields, signatureFields } from './signatures.ts'

/**
 * The tools that a request declares. With `allowed_tools` in mode auto, only the allowed ones are
 * declared, because Gemini accepts a list of names in mode ANY but not in mode AUTO.
 */
export function selectDeclaredTools(request: CanonicalRequest): readonly FunctionTool[] {
  const { toolChoice } = request
  const isNarrowed = toolChoice?.kind === 'allowed' && toolChoice.mode === 'auto'
  return isNarrowed ? listCallableTools(request) : request.tools
}

/** The fields of a request for tools: https://ai.google.dev/api/generate-content */
export interface ToolFields {
  readonly tools?: readonly object[]
  readonly toolConfig?: object | undefined
}

export function* toToolFields(
  request: CanonicalRequest,
  { marksOwnCalls }: { readonly marksOwnCalls: boolean },
  schemas: SchemaContext,
): Steps<ToolFields> {
  const functions = selectDeclaredTools(request)
  const own = listVendorTools(request)
  const functionDeclarations: object[] = []
  for (const tool of functions) functionDeclarations.push(yield* toDeclaration(tool, schemas))
  // All functions go into one tool object, because some models refuse several.
  const declared = functions.length === 0 ? [] : [{ functionDeclarations }]
  if (declared.length + own.length === 0) return {}
  const combines = declared.length > 0 && own.length > 0 && schemas.model.combinesTools
  const config = {
    functionCallingConfig: declared.length > 0 ? toCallingConfig(request, functions) : undefined,
    // Required for both together: https://ai.google.dev/gemini-api/docs/tool-combination
    includeServerSideToolInvocations: combines && marksOwnCalls ? true : undefined,
  }
  const isConfigured = Object.values(config).some((value) => value !== undefined)
  return { tools: [...declared, ...own], toolConfig: isConfigured ? config : undefined }
}

/** Lists Google's own tools, with the search that `web_search_options` asks for. */
function listVendorTools({ vendorTools, webSearch }: CanonicalRequest): readonly object[] {
  const given = vendorTools.map(({ raw }) => raw)
  const isSearching = given.some((tool) => 'google_search' in tool || 'googleSearch' in tool)
  return webSearch && !isSearching ? [...given, { googleSearch: {} }] : given
}

function* toDeclaration(tool: FunctionTool, schemas: SchemaContext): Steps<object> {
  const { name, description, parameters } = tool
  const path = `${getDefinitionPath(tool)}.parameters`
  return {
    name,
    description: description || undefined,
    ...(parameters && (yield* toParameterFields(parameters, { ...schemas, path }))),
  }
}

/** A choice that forces a call enforces the schemas of all functions, strict or not. */
function toCallingConfig(
  { toolChoice }: CanonicalRequest,
  declared: readonly FunctionTool[],
): object | undefined {
  const free = declared.some(({ strict }) => strict) ? { mode: 'VALIDATED' } : undefined
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
        : free
    case undefined:
    case 'auto':
    case 'custom':
      return free
    default:
      return toolChoice satisfies never
  }
}

interface CallContext {
  readonly thoughtSignature: string | null | undefined
  readonly names: ToolNames
}

/** A call for the client, with the thought signature that newer models expect back. */
export function toOpenAiToolCall(
  call: GeminiCall,
  { thoughtSignature, names }: CallContext,
): ToolCall & SignatureFields {
  return {
    // Models before 3.0 give no ids, and may call one function twice in an answer.
    id: call.id || newCallId(),
    type: 'function',
    function: { name: names.restore(call.name ?? ''), arguments: call.args },
    ...signatureFields(thoughtSignature),
  }
}
