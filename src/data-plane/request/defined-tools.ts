import { isObject } from '../../wire/json/parse.ts'

/** A tool that a conversation defines, and the dotted path of its definition. */
export interface DefinedTool {
  readonly tool: unknown
  readonly path: string
}

/**
 * Lists the tools that a conversation defines itself, beside those of the request: in a `tool_addition` of Claude, in
 * items such as `additional_tools` of OpenAI, in a message with `tools` of Kimi.
 * https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
 */
export function listDefinedTools(conversation: unknown, path: string): readonly DefinedTool[] {
  const found: DefinedTool[] = []
  addTools(conversation, path, found)
  return found
}

function addTools(list: unknown, path: string, found: DefinedTool[]): void {
  if (!Array.isArray(list)) return
  for (const [at, item] of list.entries()) {
    if (!isObject(item)) continue
    const place = `${path}.${at}`
    const { tools: own, tool, content, tool_changes: changes } = item
    if (Array.isArray(own)) {
      for (const [index, one] of own.entries()) {
        found.push({ tool: one, path: `${place}.tools.${index}` })
      }
    }
    if (isObject(tool) && tool['definition'] !== undefined) {
      found.push({ tool: tool['definition'], path: `${place}.tool.definition` })
    }
    addTools(content, `${place}.content`, found)
    addTools(changes, `${place}.tool_changes`, found)
  }
}
