import type { ChatRequest } from '../../core/chat.ts'
import type { Steps } from '../../core/steps.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import { isSameJson } from '../../wire/json/equality.ts'
import type { MadeMessage } from '../made-message.ts'
import type { RequestProofs } from '../request-proofs.ts'
import type { ChatTarget } from '../translated-link.ts'
import { toChatMessages } from './chat-messages.ts'
import { toChatTools } from './chat-tools.ts'
import { findEffort } from './effort.ts'
import { type CountRequest, checkPart, jsonFormat } from './schema.ts'

/** A Messages request as chat completions. */
export interface WrittenChat {
  readonly chat: ChatRequest
  readonly places: ChatPlaces
}

/** Where the parts of a chat request come from. */
export interface ChatPlaces {
  readonly messages: readonly Pick<MadeMessage, 'path' | 'parts' | 'calls'>[]
  /** The path of each tool's definition. */
  readonly tools: readonly string[]
  /** The path of the field that `response_format` comes from. */
  readonly format: string
  /** The path of the field that `reasoning_effort` comes from. */
  readonly effort: string
  /** The paths of what is not in the chat request: vendor-run tools, a choice that names one, a new type of format. */
  readonly dropped: readonly string[]
}

export interface WriteOptions {
  readonly target: ChatTarget
  /** Returns the exact JSON text of the `input` of a call. */
  readonly readInput: (path: string) => string
  readonly proofs: RequestProofs
}

/**
 * Writes a request as chat completions, and can be interrupted. What only Claude's API has is left out. Throws
 * `UntranslatableError` for a request that no chat request can express.
 */
export function* writeChat(request: CountRequest, options: WriteOptions): Steps<WrittenChat> {
  const { target } = options
  checkThread(request)
  const placed = yield* toChatMessages(request, options)
  yield
  const { fields: tools, paths, dropped } = toChatTools(request, target)
  yield
  const { format, path: formatPath } = findFormat(request)
  const { effort, path: effortPath } = findEffort(request)
  const chat = {
    model: target.model,
    messages: placed.map(({ message }) => message),
    ...toBound(request, target),
    ...toStream(request, target),
    ...toSampling(request, target),
    // What the client wants of thinking, for the kind of the link to say in its vendor's words.
    ...(isGiven(request.thinking) && { thinking: request.thinking }),
    ...(effort && { reasoning_effort: effort }),
    ...toResponseFormat(format, formatPath),
    ...tools,
  }
  return {
    chat,
    places: {
      messages: placed.map(({ path, parts, calls }) => ({ path, parts, calls })),
      tools: paths,
      format: formatPath,
      effort: effortPath,
      dropped: isGiven(format) && !isSchema(format) ? [...dropped, formatPath] : dropped,
    },
  }
}

/**
 * A continued thread has only the new messages; the others are at the vendor that keeps the thread. SDKs
 * react to this error code by sending the whole history.
 */
function checkThread({ thread }: CountRequest): void {
  if (thread?.type !== 'continue') return
  throw new UntranslatableError(
    'thread: the thread does not exist here; send the whole conversation',
    'thread',
    { fields: { details: { error_code: 'thread_not_found' } } },
  )
}

function toBound(request: CountRequest, { boundField, maxOutputTokens }: ChatTarget): object {
  const { max_tokens: bound } = request
  if (bound === undefined || bound === null) return {}
  if (bound === 0) {
    const rule = 'must be at least 1 for a model of another API'
    throw new UntranslatableError(`max_tokens: ${rule}`, 'max_tokens')
  }
  return { [boundField]: Math.min(bound, maxOutputTokens ?? bound) }
}

function toStream({ stream }: CountRequest, { asksStreamUsage }: ChatTarget): object {
  if (stream !== true) return {}
  return { stream, ...(asksStreamUsage && { stream_options: { include_usage: true } }) }
}

function toSampling(request: CountRequest, { takesTopK }: ChatTarget): object {
  const { temperature, top_p: topP, top_k: topK, stop_sequences: stop } = request
  return {
    ...(isGiven(temperature) && { temperature }),
    ...(isGiven(topP) && { top_p: topP }),
    ...(isGiven(topK) && takesTopK && { top_k: topK }),
    ...(isGiven(stop) && stop.length > 0 && { stop }),
  }
}

function isGiven<Value>(value: Value | null | undefined): value is Value {
  return value !== undefined && value !== null
}

/** Returns the format of the answer from either of its fields. Different ones contradict each other. */
function findFormat({ output_config: config, output_format: older }: CountRequest) {
  const path = 'output_config.format'
  const format = config?.format
  if (!isGiven(older)) return { format, path }
  if (!isGiven(format)) return { format: older, path: 'output_format' }
  if (isSameJson(format, older)) return { format, path }
  throw new UntranslatableError(
    `output_format differs from ${path}; send only ${path}`,
    'output_format',
  )
}

type Format = NonNullable<CountRequest['output_format']>

function isSchema({ type }: Format): boolean {
  return type === 'json_schema'
}

function toResponseFormat(format: Format | null | undefined, path: string): object {
  if (!isGiven(format) || !isSchema(format)) return {}
  const { schema } = checkPart(jsonFormat, format, path)
  return {
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'output', ...(schema && { schema }) },
    },
  }
}
