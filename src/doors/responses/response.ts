import { toOpenAiTier } from '../../core/billing.ts'
import { isObject } from '../../wire/json/parse.ts'
import { stringifyJson } from '../../wire/json/raw.ts'
import type { ResponsesError } from './error.ts'
import type { ResponsesRequest } from './fields.ts'

/** The members of a response that its request does not decide. */
export interface ResponseState {
  readonly id: string
  /** Unix seconds. */
  readonly createdAt: number
  /** Unix seconds; null until the response is complete. */
  readonly completedAt: number | null
  /** The client-facing id of the model that answers. */
  readonly model: string
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  readonly error: ResponsesError | null
  readonly incompleteReason: IncompleteReason | undefined
  readonly output: readonly object[]
  /** In the form of this API; null until the end. */
  readonly usage: object | null
  /** The tier that served, where the vendor names it. */
  readonly tier?: string | undefined
}

export type IncompleteReason = 'max_output_tokens' | 'content_filter'

/**
 * Renders a response object as JSON. `echo` is the text of `renderEcho`: tools and instructions may be long,
 * and a stream has the object three times.
 */
export function renderResponse(state: ResponseState, echo: string): string {
  return [...renderPieces(state, echo)].join('')
}

/** The length of a piece, in characters: less than a millisecond's work. */
const pieceLength = 64 * 1024

/** Renders a response object in pieces of JSON text. A piece has at least one item of a long output. */
export function* renderPieces(state: ResponseState, echo: string): Generator<string> {
  const before = {
    id: state.id,
    object: 'response',
    created_at: state.createdAt,
    status: state.status,
    completed_at: state.completedAt,
    error: state.error,
    incomplete_details: state.incompleteReason ? { reason: state.incompleteReason } : null,
    model: state.model,
  }
  let piece = `${JSON.stringify(before).slice(0, -1)},"output":[`
  let separator = ''
  for (const item of state.output) {
    piece += separator + stringifyJson(item)
    separator = ','
    if (piece.length < pieceLength) continue
    yield piece
    piece = ''
  }
  const after = {
    usage: state.usage,
    // What served, never what the request asks for: clients price by it.
    ...(state.tier !== undefined && { service_tier: toOpenAiTier(state.tier) }),
  }
  yield `${piece}],${JSON.stringify(after).slice(1, -1)},${echo}}`
}

/** Creates the id of a response. The ids of its items continue it. */
export function newResponseId(): string {
  return `resp_${crypto.randomUUID().replaceAll('-', '')}`
}

/**
 * Renders the members of a response that repeat its request, or have the default of OpenAI's API. Nothing
 * is stored.
 */
export function renderEcho(request: ResponsesRequest): string {
  const { text, reasoning } = request
  const own = isObject(text) ? text : {}
  const echo = {
    access_programs: null,
    background: false,
    conversation: null,
    instructions: request['instructions'] ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request['max_tool_calls'] ?? null,
    metadata: request['metadata'] ?? {},
    moderation: null,
    parallel_tool_calls: request['parallel_tool_calls'] ?? true,
    previous_response_id: null,
    prompt: null,
    prompt_cache_key: request['prompt_cache_key'] ?? null,
    prompt_cache_retention: request['prompt_cache_retention'] ?? null,
    reasoning: { effort: null, summary: null, ...(isObject(reasoning) && reasoning) },
    safety_identifier: request['safety_identifier'] ?? null,
    store: false,
    temperature: request['temperature'] ?? 1,
    text: {
      ...own,
      format: own['format'] ?? { type: 'text' },
      verbosity: own['verbosity'] ?? 'medium',
    },
    tool_choice: request['tool_choice'] ?? 'auto',
    tools: request['tools'] ?? [],
    top_logprobs: request['top_logprobs'] ?? 0,
    top_p: request['top_p'] ?? 1,
    truncation: request['truncation'] ?? 'disabled',
    user: request['user'] ?? null,
  }
  return JSON.stringify(echo).slice(1, -1)
}
