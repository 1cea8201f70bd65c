/**
 * True for the type of a tool that Anthropic defines and the client runs, whose calls are calls like any other.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-reference
 */
export function isClientToolType(type: unknown): boolean {
  return typeof type === 'string' && clientTypes.test(type)
}

const clientTypes = /^(?:bash|computer|memory|text_editor)_20\d{6}$/
