import type { MadeMessage } from '../made-message.ts'
import type { ReadRequest } from './chat-request.ts'
import { isFileAddress } from './content.ts'

/** Fields whose name in the Responses API differs. The more specific ones come first. */
const renamed: readonly (readonly [chat: string, own: string])[] = [
  ['response_format.json_schema', 'text.format'],
  ['response_format', 'text.format'],
  ['reasoning_effort', 'reasoning.effort'],
  ['verbosity', 'text.verbosity'],
  ['max_completion_tokens', 'max_output_tokens'],
  ['max_tokens', 'max_output_tokens'],
  ['messages', 'input'],
]

/** Returns the path in the client's request of what is at a path of the chat request with these messages. */
export function locate(
  { chatTools }: ReadRequest,
  path: string,
  messages: readonly MadeMessage[],
): string {
  const [, list, index, rest = ''] = /^(messages|tools)\.(\d+)(.*)$/.exec(path) ?? []
  if (list === 'messages') {
    const message = messages[Number(index)]
    return message ? locateInMessage(message, rest) : path
  }
  if (list === 'tools') {
    const tool = chatTools.tools[Number(index)]
    return tool ? tool.path + rest.replace(/^\.function/, '') : path
  }
  const found = renamed.find(([chat]) => path === chat || path.startsWith(`${chat}.`))
  return found ? found[1] + path.slice(found[0].length) : path
}

function locateInMessage({ message, path, parts, calls }: MadeMessage, rest: string): string {
  const [, list, index, inner = ''] = /^\.(content|tool_calls)\.(\d+)(.*)$/.exec(rest) ?? []
  if (list === undefined) return path
  if (list === 'tool_calls')
    return (calls[Number(index)] ?? path) + inner.replace(/^\.function/, '')
  const part = parts[Number(index)]
  if (part === undefined) return path
  // The members of a file are one level deeper in the chat API, and its address has a name of its own.
  const own = inner.replace(/^\.file\b|\.url$/, '')
  return (
    part + (isAddress(message, Number(index)) ? own.replace(/^\.file_data$/, '.file_url') : own)
  )
}

function isAddress({ content }: MadeMessage['message'], index: number): boolean {
  const part = typeof content === 'object' ? content?.[index] : undefined
  return part !== undefined && isFileAddress(part)
}
