import type { ChatPlaces } from './chat-request.ts'

/** Returns the path in a Messages request of what is at a path of the chat request written for it. */
export function locatePath(path: string, places: ChatPlaces): string {
  const [field = '', ...rest] = path.split('.')
  switch (field) {
    case 'messages':
      return locateMessage(rest, places)
    case 'tools':
      return locateTool(rest, places)
    case 'max_completion_tokens':
      return 'max_tokens'
    case 'parallel_tool_calls':
      return 'tool_choice.disable_parallel_tool_use'
    case 'reasoning_effort':
      return places.effort
    case 'response_format':
      return path
        .replace('response_format', places.format)
        .replace('.json_schema.schema', '.schema')
        .replace('.json_schema', '')
    case 'stop':
      return 'stop_sequences'
    case 'stream_options':
      return 'stream'
    default:
      return path
  }
}

function locateMessage([index, ...rest]: readonly string[], { messages }: ChatPlaces): string {
  const place = messages[Number(index)]
  if (!place) return 'messages'
  const [field, position, ...deeper] = rest
  const at = Number(position)
  if (field === 'content') return renameMembers(place.parts[at] ?? place.path, deeper)
  if (field === 'tool_calls') return renameMembers(place.calls[at] ?? place.path, deeper)
  if (field === 'tool_call_id') return `${place.path}.tool_use_id`
  return field === 'role' ? `${place.path}.role` : place.path
}

/** The members of blocks by those of parts and calls. */
const members: Readonly<Record<string, string>> = {
  image_url: 'source',
  file: 'source',
  text: 'text',
  cache_control: 'cache_control',
}

function renameMembers(block: string, [first = '', second]: readonly string[]): string {
  if (first === 'function') return `${block}.${second === 'name' ? 'name' : 'input'}`
  const member = members[first]
  return member === undefined ? block : `${block}.${member}`
}

function locateTool([index, ...rest]: readonly string[], { tools }: ChatPlaces): string {
  const place = tools[Number(index)]
  if (place === undefined) return 'tools'
  const inner = rest[0] === 'function' ? rest.slice(1) : rest
  const [first, ...deeper] = inner
  const member = first === 'parameters' ? 'input_schema' : first
  return [place, ...(member === undefined ? [] : [member]), ...deeper].join('.')
}
