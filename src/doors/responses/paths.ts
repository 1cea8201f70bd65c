import type { ReadRequest } from './chat-request.ts'

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

/** Returns the path in the client's request of what is at a path of the chat request. */
export function locate({ turns, chatTools }: ReadRequest, path: string): string {
  const [, list, index, rest = ''] = /^(messages|tools)\.(\d+)(.*)$/.exec(path) ?? []
  if (list === 'messages') {
    const turn = turns[Number(index)]
    return turn ? locateInTurn(turn, rest) : path
  }
  if (list === 'tools') {
    const tool = chatTools.tools[Number(index)]
    return tool ? tool.path + rest.replace(/^\.function/, '') : path
  }
  const found = renamed.find(([chat]) => path === chat || path.startsWith(`${chat}.`))
  return found ? found[1] + path.slice(found[0].length) : path
}

function locateInTurn({ path, parts, calls }: ReadRequest['turns'][number], rest: string): string {
  const [, list, index, inner = ''] = /^\.(content|tool_calls)\.(\d+)(.*)$/.exec(rest) ?? []
  if (list === undefined) return path
  if (list === 'tool_calls')
    return (calls[Number(index)] ?? path) + inner.replace(/^\.function/, '')
  const part = parts[Number(index)]
  // The members of a file are one level deeper in the chat API.
  return part === undefined ? path : part + inner.replace(/^\.file\b|\.url$/, '')
}
