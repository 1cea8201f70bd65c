import { type Conversation, mergeTurns, type Turn } from '../conversation.ts'
import type { JsonSchema } from '../json-schema.ts'
import { Refusal } from '../refusal.ts'

/** What a model reads of a checked request, at OpenAI and at vendors of its format. */
export interface ReadableRequest {
  readonly messages: readonly ReadableMessage[]
  readonly tools?: readonly { readonly function: ReadableTool }[] | null | undefined
  readonly tool_choice?:
    | string
    | { readonly function: { readonly name: string } }
    | null
    | undefined
  readonly response_format?: ReadableFormat | null | undefined
}

export interface ReadableMessage {
  readonly role: string
  readonly content?: Content | null | undefined
  readonly tool_call_id?: string | undefined
  readonly tool_calls?: readonly ReadableCall[] | null | undefined
}

interface ReadableTool {
  readonly name: string
  readonly parameters?: JsonSchema | undefined
}

interface ReadableCall {
  readonly id: string
  readonly function: { readonly name: string; readonly arguments: string }
}

interface ReadableFormat {
  readonly type: string
  readonly json_schema?: { readonly schema?: JsonSchema | undefined } | undefined
}

type Content = string | readonly { readonly type: string; readonly text?: string | undefined }[]

/** `thinks`: whether the request turns reasoning on. */
export function readConversation(request: ReadableRequest, thinks: boolean): Conversation {
  return {
    turns: mergeTurns(request.messages.flatMap(toTurn)),
    tools: (request.tools ?? []).map(({ function: { name, parameters } }) => ({
      name,
      schema: parameters ?? {},
    })),
    choice: toChoice(request),
    format: request.response_format?.json_schema?.schema,
    thinks,
  }
}

function toChoice({ tool_choice: choice }: ReadableRequest): Conversation['choice'] {
  if (typeof choice === 'object' && choice) return choice.function
  if (choice === 'required') return 'any'
  return choice === 'none' ? 'none' : 'auto'
}

function toTurn(message: ReadableMessage, index: number): Turn[] {
  const text = toText(message.content ?? '')
  switch (message.role) {
    case 'user':
      return [{ role: 'user', text, results: [], images: countImages(message.content ?? '') }]
    case 'tool': {
      const results = [{ id: message.tool_call_id ?? '', text }]
      return [{ role: 'user', text: '', results, images: 0 }]
    }
    case 'assistant': {
      const calls = (message.tool_calls ?? []).map(
        ({ id, function: { name, arguments: json } }) => ({
          id,
          name,
          input: parseArguments(json, `messages[${index}]`),
        }),
      )
      return [{ role: 'model', text, calls }]
    }
    // Instructions.
    default:
      return []
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

function countImages(content: Content): number {
  return typeof content === 'string' ? 0 : content.filter(({ type }) => type === 'image_url').length
}

function toText(content: Content): string {
  return typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('')
}
