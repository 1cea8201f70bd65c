import { isObject } from '../../wire/json/parse.ts'
import type { CountRequest, Tool } from './schema.ts'

/**
 * Lists the tools that the model does not get yet: those with `defer_loading` to which nothing in the conversation
 * refers. With a search that only the vendor can run there are none, because no other model could ever find them.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool
 */
export function findWaitingTools(request: CountRequest): ReadonlySet<Tool> {
  const tools = request.tools ?? []
  const deferred = tools.filter((tool) => tool['defer_loading'] === true)
  if (deferred.length === 0 || tools.some(isVendorSearch)) return new Set()
  const known = listKnownNames(request)
  return new Set(deferred.filter(({ name }) => !known.has(name)))
}

function isVendorSearch({ type }: Tool): boolean {
  return type?.startsWith('tool_search_tool_') === true
}

/** The names of the tools that the conversation has loaded or called, and of the one that must be called. */
function listKnownNames({ messages, tool_choice: choice }: CountRequest): ReadonlySet<unknown> {
  const names = new Set<unknown>([choice?.name])
  for (const { content } of messages) addNames(content, names)
  return names
}

function addNames(content: unknown, names: Set<unknown>): void {
  if (!Array.isArray(content)) return
  for (const block of content) if (isObject(block)) addName(block, names)
}

function addName(block: Readonly<Record<string, unknown>>, names: Set<unknown>): void {
  switch (block['type']) {
    case 'tool_reference':
      names.add(block['tool_name'])
      return
    case 'tool_use':
      names.add(block['name'])
      return
    case 'tool_addition':
      // https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
      if (isObject(block['tool'])) names.add(block['tool']['name'])
      return
    case 'tool_result':
      return addNames(block['content'], names)
  }
}
