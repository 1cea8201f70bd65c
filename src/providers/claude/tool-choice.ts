import type { CanonicalRequest } from '../canonical/request.ts'

/** A choice among tools. The Messages API and Converse use the same types. */
export interface ClaudeToolChoice {
  readonly type: 'auto' | 'any' | 'tool' | 'none'
  readonly name?: string
}

/**
 * Translates `tool_choice`. Where no call may be forced, a forced choice becomes `auto`, and
 * `listOfferedTools` offers a named function alone.
 */
export function toClaudeToolChoice(
  { toolChoice }: CanonicalRequest,
  canForce: boolean,
): ClaudeToolChoice | undefined {
  const forced = (choice: ClaudeToolChoice): ClaudeToolChoice =>
    canForce ? choice : { type: 'auto' }
  switch (toolChoice?.kind) {
    case undefined:
    case 'custom':
      return undefined
    case 'auto':
    case 'none':
      return { type: toolChoice.kind }
    case 'required':
      return forced({ type: 'any' })
    case 'function':
      return forced({ type: 'tool', name: toolChoice.name })
    case 'allowed':
      return toolChoice.mode === 'auto' ? { type: 'auto' } : forced({ type: 'any' })
    default:
      return toolChoice satisfies never
  }
}

/** `disable_parallel_tool_use` is a member of the choice. Without a choice it joins `auto`, the default. */
export function limitParallelCalls(
  choice: ClaudeToolChoice | undefined,
  { parallelToolCalls }: CanonicalRequest,
): object | undefined {
  if (parallelToolCalls !== false) return choice
  return { type: 'auto', ...choice, disable_parallel_tool_use: true }
}
