import { type Conversation, mergeTurns, type Turn } from '../conversation.ts'
import { check, Refusal } from '../refusal.ts'
import type { ChatRequest, Message } from './request.ts'
import { checkPairs } from './rules.ts'

/** Reads a checked request. */
export function readConversation(request: ChatRequest): Conversation {
  const { tools = [], response_format: format, reasoning_effort: effort } = request
  const turns = mergeTurns(request.messages.flatMap(toTurn))
  checkPairs(turns)
  return {
    turns,
    tools: tools.map(({ function: { name, parameters } }) => ({ name, schema: parameters ?? {} })),
    choice: toChoice(request),
    format: format?.type === 'json_schema' ? format.json_schema.schema : undefined,
    thinks: effort !== undefined && effort !== null && effort !== 'none',
  }
}

function toChoice({ tool_choice: choice = 'auto' }: ChatRequest): Conversation['choice'] {
  if (typeof choice === 'object') return choice.function
  return choice === 'required' ? 'any' : choice
}

function toTurn(message: Message, index: number): Turn[] {
  switch (message.role) {
    case 'system':
    case 'developer':
      return []
    case 'user':
      return [toUserTurn(message.content)]
    case 'tool': {
      const { tool_call_id: id, content } = message
      return [{ role: 'user', text: '', results: [{ id, text: toText(content) }], images: 0 }]
    }
    case 'assistant': {
      const { content, refusal, tool_calls = [] } = message
      const isFull = (content ?? refusal ?? undefined) !== undefined || tool_calls.length > 0
      const path = `messages[${index}]`
      check(isFull, `Invalid value for '${path}.content': expected a string, got null.`)
      const calls = tool_calls.map(({ id, function: { name, arguments: json } }) => ({
        id,
        name,
        input: parseArguments(json, path),
      }))
      return [{ role: 'model', text: toText(content ?? ''), calls }]
    }
    default:
      return message satisfies never
  }
}

/** A model that wrote torn arguments gets them back; OpenAI does not parse them. */
function parseArguments(json: string, path: string): object {
  try {
    return Object(JSON.parse(json || '{}'))
  } catch {
    throw new Refusal(400, `${path}.tool_calls: the arguments are not JSON`)
  }
}

function toUserTurn(content: Content): Turn {
  const parts = typeof content === 'string' ? [] : content
  const images = parts.filter(({ type }) => type === 'image_url').length
  return { role: 'user', text: toText(content), results: [], images }
}

type Content = string | readonly { readonly type: string; readonly text?: string }[]

function toText(content: Content): string {
  return typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('')
}
