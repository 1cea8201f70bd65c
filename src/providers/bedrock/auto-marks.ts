import type { CacheMarker } from '../../core/provider-kind.ts'
import { placeMembers } from '../../wire/json/entries.ts'
import { isObject, isSet } from '../../wire/json/parse.ts'
import { listMarks, type Marking, markBody } from '../claude/auto-marks.ts'
import { isTextDocument } from './media.ts'

/** Marks a body of Converse that has no cache point. https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html */
export function markConverse(body: Uint8Array): Uint8Array {
  return markBody(body, marking)
}

export const converseMarker: CacheMarker = {
  mark: markConverse,
  list: (body) => listMarks(body, marking),
}

/** A mark is a block of its own behind the one that it marks. */
const marking: Marking = {
  toolMember: 'toolConfig',
  findTools: (json, config) => placeMembers(json, config.start).get('tools'),
  canCarry: (block) => isObject(block) && !('reasoningContent' in block) && !isTextDocument(block),
  isMark: (block) => isSet(block['cachePoint']),
  mark: (_, { end }) => ({ start: end, end, text: ',{"cachePoint":{"type":"default"}}' }),
}
