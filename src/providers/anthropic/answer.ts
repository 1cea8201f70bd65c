import * as z from 'zod'
import { newCallId, newCompletionId } from '../../core/ids.ts'
import type { ChatResult } from '../../core/provider.ts'
import { isObject, tryParseJson } from '../../wire/json.ts'
import { extractTexts } from '../../wire/json-text.ts'
import {
  type CompletionMessage,
  createCompletionAnswer,
  normalizeArguments,
  type ToolCall,
} from '../canonical/completion.ts'
import { thinkingOf } from '../claude/thinking-blocks.ts'
import { errorIn } from './errors.ts'
import { finishReasonOf } from './finish-reason.ts'
import { readAnthropicUsage } from './usage.ts'

/** A text, or nothing where something else stands: blocks of new types may use the same names. */
export const optionalText = z.string().optional().catch(undefined)

export const contentBlock = z.looseObject({
  type: z.string(),
  text: optionalText,
  thinking: optionalText,
  id: optionalText,
  name: optionalText,
})

export const stopDetails = z.looseObject({ explanation: optionalText }).optional().catch(undefined)

/** Compatible servers leave out whatever may be null. */
const wholeMessage = z.looseObject({
  id: optionalText,
  content: z.array(contentBlock),
  stop_reason: optionalText,
  stop_details: stopDetails,
  usage: z.unknown().optional(),
})

export type ContentBlock = z.infer<typeof contentBlock>

export interface AnswerContext {
  readonly modelId: string
  /** Unix seconds. */
  readonly created: number
}

const decoder = new TextDecoder()

/** Reads a whole answer. */
export function readAnthropicAnswer(bytes: Uint8Array, context: AnswerContext): ChatResult {
  const json = decoder.decode(bytes)
  const value = tryParseJson(json)
  if (value === undefined) return malformed('the answer is not JSON')
  if (isObject(value) && value['type'] === 'error') return readError(value['error'])
  const parsed = wholeMessage.safeParse(value)
  if (!parsed.success) return malformed('the answer is no message')
  const { id, content, stop_reason, stop_details, usage } = parsed.data
  const explanation = stop_reason === 'refusal' ? stop_details?.explanation : undefined
  const calls = callsOf(content, json)
  const answer = createCompletionAnswer({
    id: id || newCompletionId(),
    created: context.created,
    model: context.modelId,
    choices: [
      {
        message: {
          ...messageOf(content, calls),
          ...(explanation && { refusal: explanation }),
        },
        finishReason: finishReasonOf(stop_reason, calls.length > 0),
      },
    ],
    usage: readAnthropicUsage(usage),
  })
  return { ok: true, answer }
}

function messageOf(
  content: readonly ContentBlock[],
  calls: readonly ToolCall[],
): CompletionMessage {
  const texts = content.filter(({ type }) => type === 'text')
  const thoughts = content.filter(({ type }) => type === 'thinking')
  const reasoning = thoughts.map(({ thinking }) => thinking ?? '').join('')
  const proven = thinkingOf(content, (block) => (isThinking(block) ? block : undefined))
  return {
    content:
      texts.length === 0 && calls.length > 0
        ? null
        : texts.map((block) => block.text ?? '').join(''),
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(proven.length > 0 && { thinking_blocks: proven }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

function isThinking({ type }: ContentBlock): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

function isCall({ type }: ContentBlock): boolean {
  return type === 'tool_use'
}

function callsOf(content: readonly ContentBlock[], json: string): ToolCall[] {
  if (!content.some(isCall)) return []
  const inputs = extractTexts(json, 'content.*.input')
  return content.flatMap((block, place) => {
    if (!isCall(block)) return []
    const text = normalizeArguments(inputs.get(`content.${place}.input`))
    const called = { name: block.name ?? '', arguments: text }
    return [{ id: block.id || newCallId(), type: 'function', function: called }]
  })
}

/** The same, in place of a whole answer. */
function readError(error: unknown): ChatResult {
  const failure = errorIn(error)
  if (failure.kind === 'status') return { ok: false, failure }
  const { vendor } = failure
  return { ok: false, failure: { kind: 'malformed', detail: 'the answer is an error', vendor } }
}

function malformed(detail: string): ChatResult {
  return { ok: false, failure: { kind: 'malformed', detail } }
}
