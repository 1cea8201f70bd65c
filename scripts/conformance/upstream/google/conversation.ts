import type { Conversation, ToolCall, Turn } from '../conversation.ts'
import type { Content, GeminiRequest } from './request.ts'
import { listDeclarations } from './rules.ts'

/** Reads a checked request. */
export function readConversation(request: GeminiRequest): Conversation {
  const { thinkingConfig, responseSchema, responseJsonSchema } = request.generationConfig ?? {}
  return {
    turns: request.contents.map(toTurn),
    tools: listDeclarations(request).map(({ name, parameters, parametersJsonSchema }) => ({
      name,
      schema: parametersJsonSchema ?? parameters ?? {},
    })),
    choice: toChoice(request),
    format: responseJsonSchema ?? responseSchema,
    thinks: thinkingConfig?.includeThoughts === true,
  }
}

function toChoice({ toolConfig }: GeminiRequest): Conversation['choice'] {
  const { mode, allowedFunctionNames: [name] = [] } = toolConfig?.functionCallingConfig ?? {}
  if (name !== undefined) return { name }
  if (mode === 'NONE') return 'none'
  return mode === 'ANY' ? 'any' : 'auto'
}

function toTurn({ role, parts }: Content): Turn {
  const text = parts.flatMap((each) => (each.thought ? [] : (each.text ?? []))).join('\n')
  if (role === 'model') {
    const calls = parts.flatMap(({ functionCall: call }): ToolCall[] =>
      call ? [{ id: call.id ?? '', name: call.name, input: call.args ?? {} }] : [],
    )
    return { role, text, calls }
  }
  const results = parts.flatMap(({ functionResponse: result }) =>
    result ? [{ id: result.id ?? '', text: toResultText(result.response) }] : [],
  )
  const media = parts.flatMap(({ functionResponse }) => functionResponse?.parts ?? [])
  const images = [...parts, ...media].filter(({ inlineData }) => inlineData).length
  return { role, text, results, images }
}

function toResultText(response: Readonly<Record<string, unknown>>): string {
  // Python's SDK wraps what a function returns as `result`.
  const { output, result = output } = response
  return typeof result === 'string' ? result : JSON.stringify(response)
}
