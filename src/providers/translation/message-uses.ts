import type { Steps } from '../../core/steps.ts'
import type { CanonicalMessage, CanonicalPart } from '../canonical/messages.ts'
import type { PastCall } from '../canonical/past-call.ts'
import { type FeatureUse, isPlainName } from './feature-use.ts'
import { classifyMedia, isKnownDetail } from './media-uses.ts'
import type { Feature } from './table.ts'

/** How many messages are searched at once: about a millisecond's work. */
const searchedAtOnce = 64

/** Finds the features in a conversation that not every API supports. `matters` skips costly checks. */
export function* findMessageUses(
  messages: readonly CanonicalMessage[],
  matters: (feature: Feature) => boolean,
): Steps<readonly FeatureUse[]> {
  const uses: FeatureUse[] = []
  const called = new Set<string>()
  for (const [index, message] of messages.entries()) {
    if (index > 0 && index % searchedAtOnce === 0) yield
    if (typeof message.content === 'object') {
      for (const part of message.content) uses.push(...findPartUses(part, message))
    }
    if (message.role === 'assistant') {
      for (const call of message.calls) {
        called.add(call.id)
        uses.push(...findCallUses(call, matters))
      }
      if (Array.isArray(message.raw['images']) && message.raw['images'].length > 0) {
        uses.push({ feature: 'images of an answer', path: `${message.path}.images` })
      }
    }
    if (message.role === 'tool' && message.isError) {
      uses.push({ feature: 'is_error of a tool message', path: `${message.path}.is_error` })
    }
    if (message.role === 'tool' && !called.has(message.callId) && message.name === undefined) {
      const path = `${message.path}.tool_call_id`
      uses.push({ feature: 'tool message without a matching call', path })
    }
  }
  return uses
}

function findCallUses(call: PastCall, matters: (feature: Feature) => boolean): FeatureUse[] {
  const torn = 'arguments that are not a JSON object'
  const odd = 'call with a name other than 1 to 64 letters, digits, _ and -'
  return [
    ...(matters(torn) && !call.hasObject
      ? [{ feature: torn, path: `${getFunctionPath(call)}.arguments` } as const]
      : []),
    ...(isPlainName(call.name)
      ? []
      : [{ feature: odd, path: `${getFunctionPath(call)}.name` } as const]),
  ]
}

/** Returns the path of a call's function. A legacy call is itself the function. */
function getFunctionPath({ path }: PastCall): string {
  return path.endsWith('.function_call') ? path : `${path}.function`
}

const roleFeatures: Readonly<Record<Exclude<CanonicalMessage['role'], 'user'>, Feature>> = {
  system: 'part other than text in instructions',
  assistant: 'part other than text in an answer',
  tool: 'part other than text in a tool message',
}

const guardedFeatures: Readonly<Record<CanonicalMessage['role'], Feature>> = {
  system: 'guarded_text',
  user: 'guarded_text',
  assistant: 'guarded_text in an answer or a tool message',
  tool: 'guarded_text in an answer or a tool message',
}

function findPartUses(part: CanonicalPart, { role }: CanonicalMessage): FeatureUse[] {
  if (part.type === 'text') return []
  const { path } = part
  if (path.endsWith('.audio')) {
    const isWhole = part.type === 'audio'
    const feature = isWhole ? 'audio of an answer, with its data' : 'audio of an answer, by its id'
    return [{ feature, path }]
  }
  if (part.type === 'guarded') return [{ feature: guardedFeatures[role], path }]
  const media = classifyMedia(part)
  return [
    ...(role === 'user' ? [] : [{ feature: roleFeatures[role], path }]),
    { feature: media, path: getFieldPath(part, media) },
    ...findDetailUses(part),
  ]
}

function findDetailUses(part: CanonicalPart): FeatureUse[] {
  if (part.type !== 'image' || part.detail === undefined || isKnownDetail(part.detail)) return []
  return [{ feature: 'image_url.detail with another value', path: `${part.path}.image_url.detail` }]
}

/** Returns the path of the field at fault, as precisely as the feature allows. */
function getFieldPath(part: CanonicalPart, feature: Feature): string {
  const { type, path } = part
  switch (feature) {
    case 'file whose file_data is not a base64 data URI':
      return path.concat(
        part.type === 'file' && part.member === 'file' ? '.file.file_data' : '.video_url',
      )
    case 'file without a media type':
    case 'file with an https address':
    case 'file without file_data and file_id':
      return `${path}.file`
    default:
      return type === 'image' ? `${path}.image_url` : path
  }
}
