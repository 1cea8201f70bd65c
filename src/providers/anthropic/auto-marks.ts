import type { CacheMarker } from '../../core/provider-kind.ts'
import { cutMembers } from '../../wire/json/cut.ts'
import { isObject, isSet } from '../../wire/json/parse.ts'
import { isBlank, listMarks, type Marking, markBody } from '../claude/auto-marks.ts'

/** Marks a body of the Messages API that has no mark. https://platform.claude.com/docs/en/build-with-claude/prompt-caching */
export function markMessages(body: Uint8Array): Uint8Array {
  return markBody(body, marking)
}

export const messagesMarker: CacheMarker = {
  mark: markMessages,
  list: (body) => listMarks(body, marking),
}

const ephemeral = '"cache_control":{"type":"ephemeral"}'

const marking: Marking = {
  toolMember: 'tools',
  findTools: (_, tools) => tools,
  canCarry: isMarkable,
  isMark: (block) => isSet(block['cache_control']),
  mark: (json, { start, end }) => ({ start, end, text: addMark(json.slice(start, end)) }),
  markText: (text) => `[{"type":"text","text":${text},${ephemeral}}]`,
}

/** Thinking must come back unchanged, blank texts take no mark, and a tool that is loaded later has none. */
function isMarkable(block: unknown): boolean {
  if (!isObject(block)) return false
  const { type, text, defer_loading: isDeferred } = block
  if (type === 'thinking' || type === 'redacted_thinking' || isDeferred === true) return false
  return type !== 'text' || !isBlank(text)
}

/** Writes the mark as the last member of an object, in place of one that is null. */
function addMark(object: string): string {
  const own = object.includes('cache_control') ? cutMembers(object, 'cache_control') : object
  const end = own.lastIndexOf('}')
  const separator = /\{\s*$/.test(own.slice(0, end)) ? '' : ','
  return `${own.slice(0, end)}${separator}${ephemeral}}`
}
