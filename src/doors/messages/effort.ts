import { type CountRequest, checkPart, messageOutputConfig } from './schema.ts'

/** An effort, and the path of the field that holds it. */
export interface PlacedEffort {
  readonly effort: string | undefined
  readonly path: string
}

type Message = CountRequest['messages'][number]

/**
 * Finds the effort of the next answer: that of the request, unless a system message inside the conversation has
 * changed it. A change directly behind new input of the user counts at once, any other from the next new input on.
 * Throws `UntranslatableError` for a malformed change.
 * https://platform.claude.com/docs/en/build-with-claude/effort-per-message
 */
export function findEffort({ output_config: config, messages }: CountRequest): PlacedEffort {
  let current: PlacedEffort = { effort: config?.effort ?? undefined, path: 'output_config.effort' }
  let waiting: PlacedEffort | undefined
  let isBehindInput = false
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'system') {
      isBehindInput = isNewInput(message)
      if (!isBehindInput) continue
      current = waiting ?? current
      waiting = undefined
      continue
    }
    const change = readChange(message, `messages.${index}.output_config`)
    if (!change) continue
    if (isBehindInput) current = change
    else waiting = change
  }
  return current
}

/** Results of tools alone continue a turn. */
function isNewInput({ role, content }: Message): boolean {
  if (role !== 'user') return false
  return typeof content === 'string' || content.some(({ type }) => type !== 'tool_result')
}

function readChange(message: Message, path: string): PlacedEffort | undefined {
  const config = message['output_config']
  if (config === undefined || config === null) return undefined
  const { effort } = checkPart(messageOutputConfig, config, path)
  return effort ? { effort, path: `${path}.effort` } : undefined
}
