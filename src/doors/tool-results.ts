import type { ChatMessage, ContentPart } from '../core/chat.ts'
import type { MadeMessage } from './made-message.ts'
import type { ChatTarget } from './translated-link.ts'

/** A part of a message's content, and its path in the client's request. */
interface PlacedPart {
  readonly part: ContentPart
  readonly path: string
}

/**
 * Writes the results of tools in the form that a target accepts. Where tool messages hold only texts, their
 * images and files go into the user message behind them; where a failed call has no field, a text says it.
 */
export function fitResults(
  messages: readonly MadeMessage[],
  target: ChatTarget,
): readonly MadeMessage[] {
  if (target.takesResultMedia && target.takesResultErrors && target.takesCacheControl) {
    return messages
  }
  const fitted: MadeMessage[] = []
  let attached: PlacedPart[] = []
  for (const one of messages) {
    if (one.message.role === 'tool') {
      const { result, media } = fitResult(one, target)
      fitted.push(result)
      attached.push(...media)
      continue
    }
    fitted.push(...attachMedia(attached, one))
    attached = []
  }
  return [...fitted, ...attachMedia(attached)]
}

interface FittedResult {
  readonly result: MadeMessage
  /** What goes into the user message behind the result. */
  readonly media: readonly PlacedPart[]
}

function fitResult(one: MadeMessage, target: ChatTarget): FittedResult {
  const { message, path } = one
  const { is_error: isError, ...rest } = message
  const saysFailure = isError === true && !target.takesResultErrors
  const given = listPlacedParts(one)
  const media = given.filter(({ part }) => part.type !== 'text')
  const isMoved = media.length > 0 && !target.takesResultMedia
  const texts = [
    ...(saysFailure ? [toNote(failed, path)] : []),
    ...given.filter(({ part }) => part.type === 'text'),
    ...(isMoved ? [toNote(seeBelow, path)] : []),
  ]
  const isJoined = media.length > 0 && texts.length > 1 && !target.takesCacheControl
  if (!saysFailure && !isMoved && !isJoined) return { result: one, media: [] }
  const kept = isMoved ? [] : media
  const result = {
    ...one,
    message: { ...(saysFailure ? rest : message), content: toContent(texts, kept, target) },
    parts: (isJoined ? [texts[0], ...kept] : [...texts, ...kept]).map((each) => each?.path ?? path),
  }
  if (!isMoved) return { result, media: [] }
  const heading = `The files of the tool result ${String(message['tool_call_id'])}:`
  return { result, media: [toNote(heading, path), ...media] }
}

const failed = 'The tool call failed.'
const seeBelow = 'The files of this result are in the next user message.'

function toNote(text: string, path: string): PlacedPart {
  return { part: { type: 'text', text }, path }
}

/** A target without cache marks gets the texts as one, because some servers accept only a string. */
function toContent(
  texts: readonly PlacedPart[],
  media: readonly PlacedPart[],
  { takesCacheControl }: ChatTarget,
): string | ContentPart[] {
  const parts = (placed: readonly PlacedPart[]) => placed.map(({ part }) => part)
  if (takesCacheControl) return parts([...texts, ...media])
  const text = texts.map(({ part }) => part.text ?? '').join('\n\n')
  return media.length === 0 ? text : [{ type: 'text', text }, ...parts(media)]
}

/** Puts the media of results in front of a user message; before any other message they get one of their own. */
function attachMedia(media: readonly PlacedPart[], next?: MadeMessage): readonly MadeMessage[] {
  const [first] = media
  if (!first) return next ? [next] : []
  const isUser = next?.message.role === 'user'
  const parts = isUser ? [...media, ...listPlacedParts(next)] : media
  const message: ChatMessage = {
    ...(isUser ? next.message : { role: 'user' }),
    content: parts.map(({ part }) => part),
  }
  const user: MadeMessage = {
    message,
    path: isUser ? next.path : first.path,
    parts: parts.map(({ path }) => path),
    calls: [],
  }
  return next && !isUser ? [user, next] : [user]
}

/** A content that is one text may come from several parts of the client's. */
function listPlacedParts({ message: { content }, path, parts }: MadeMessage): PlacedPart[] {
  const [first = path] = parts
  if (typeof content === 'string') {
    return content === '' ? [] : [{ part: { type: 'text', text: content }, path: first }]
  }
  return (content ?? []).map((part, index) => ({ part, path: parts[index] ?? path }))
}
