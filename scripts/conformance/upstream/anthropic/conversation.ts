import { type Conversation, mergeTurns, type Turn } from '../conversation.ts'
import type { Message, MessagesRequest, ToolResult } from './request.ts'
import { checkPairs, isThinking } from './rules.ts'

/** Reads a checked request. */
export function readConversation(request: MessagesRequest): Conversation {
  const { messages, tools = [], tool_choice: choice } = request
  const turns = mergeTurns(messages.flatMap(toTurn))
  checkPairs(turns)
  return {
    turns,
    tools: tools.map(({ name, input_schema }) => ({ name, schema: input_schema ?? {} })),
    choice: choice?.type === 'tool' ? { name: choice.name ?? '' } : (choice?.type ?? 'auto'),
    format: request.output_config?.format?.schema,
    thinks: isThinking(request),
  }
}

function toTurn({ role, content }: Message): Turn[] {
  if (role === 'system') return []
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  if (role === 'assistant') {
    const calls = blocks.flatMap((block) => (block.type === 'tool_use' ? [block] : []))
    return [{ role: 'model', text, calls }]
  }
  const results = blocks.flatMap((block) =>
    block.type === 'tool_result' ? [{ id: block.tool_use_id, text: toText(block) }] : [],
  )
  const contents = blocks.flatMap((block) =>
    block.type === 'tool_result' && typeof block.content === 'object' ? block.content : [],
  )
  const images = [...blocks, ...contents].filter(({ type }) => type === 'image').length
  return [{ role: 'user', text, results, images }]
}

function toText({ content = '' }: ToolResult): string {
  if (typeof content === 'string') return content
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}
