import type { Conversation, Turn } from '../conversation.ts'
import { findSchemaProblem, type JsonSchema } from '../json-schema.ts'
import { check } from '../refusal.ts'
import type { ConverseRequest, Message } from './request.ts'
import { checkPairs } from './rules.ts'

/** Reads a checked request. */
export function readConversation(request: ConverseRequest): Conversation {
  const { messages, toolConfig, additionalModelRequestFields, outputConfig } = request
  const turns = messages.map(toTurn)
  checkPairs(turns)
  const thinking = additionalModelRequestFields?.thinking?.type
  const format = outputConfig?.textFormat.structure.jsonSchema.schema
  return {
    turns,
    tools: (toolConfig?.tools ?? []).flatMap(({ toolSpec: spec }) =>
      spec ? [{ name: spec.name, schema: spec.inputSchema.json }] : [],
    ),
    choice: toChoice(request),
    format: format === undefined ? undefined : parseFormat(format),
    thinks: thinking === 'enabled' || thinking === 'adaptive',
  }
}

function toChoice({ toolConfig, additionalModelRequestFields }: ConverseRequest) {
  const { any, tool } = toolConfig?.toolChoice ?? {}
  const own = additionalModelRequestFields?.tool_choice
  const name = tool?.name ?? own?.name
  if (name !== undefined) return { name }
  return any || own?.type === 'any' ? 'any' : 'auto'
}

function parseFormat(format: string): JsonSchema {
  const schema = JSON.parse(format)
  const problem = findSchemaProblem(schema, { isClosed: true })
  check(problem === undefined, `outputConfig.textFormat.structure.jsonSchema.schema: ${problem}`)
  return schema
}

function toTurn({ role, content }: Message): Turn {
  const texts = content.flatMap((each) => each.text ?? []).join('\n')
  if (role === 'assistant') {
    const calls = content.flatMap(({ toolUse: use }) =>
      use ? [{ id: use.toolUseId, name: use.name, input: use.input }] : [],
    )
    return { role: 'model', text: texts, calls }
  }
  const results = content.flatMap(({ toolResult: result }) =>
    result
      ? [{ id: result.toolUseId, text: result.content.map((each) => each.text ?? '').join('') }]
      : [],
  )
  const shown = content.flatMap(({ toolResult }) => toolResult?.content ?? [])
  const images = [...content, ...shown].filter(({ image }) => image).length
  return { role, text: texts, results, images }
}
