import * as z from 'zod'
import type { AnswerBody, ChatResult } from '../../core/endpoints.ts'
import { newCallId, newCompletionId } from '../../core/ids.ts'
import type { Steps } from '../../core/steps.ts'
import type { ReportedUsage } from '../../core/usage.ts'
import { isObject } from '../../wire/json/parse.ts'
import { extractItems } from '../../wire/json/text.ts'
import type { ToolNames } from '../../wire/tool-names.ts'
import {
  type CompletionMessage,
  createCompletionAnswer,
  normalizeArguments,
  type ToolCall,
} from '../canonical/completion.ts'
import { collectThinking } from '../claude/thinking-blocks.ts'
import { isThinking } from './blocks.ts'
import { collectAnnotations } from './citations.ts'
import { carryContent } from './content.ts'
import { findAnswerError } from './errors.ts'
import { mapFinishReason } from './finish-reason.ts'
import { isEmptyAnswer } from './native-answer.ts'
import { parseUsage } from './usage.ts'

/** A string; any other value reads as absent, because new block types may use the same member names. */
export const lenientText = z.string().optional().catch(undefined)

export const contentBlock = z.looseObject({
  type: z.string(),
  text: lenientText,
  thinking: lenientText,
  id: lenientText,
  name: lenientText,
})

export const stopDetails = z.looseObject({ explanation: lenientText }).nullish().catch(undefined)

/**
 * The container in which the vendor ran code. A later request may name its `id`:
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/code-execution-tool
 */
export const container = z.looseObject({ id: z.string() }).nullish().catch(undefined)

/** Compatible servers omit the members that may be null. */
const messageBody = z.looseObject({
  id: lenientText,
  content: z.array(contentBlock),
  stop_reason: lenientText,
  stop_details: stopDetails,
  container,
  usage: z.unknown().optional(),
})

export type ContentBlock = z.infer<typeof contentBlock>

export interface AnswerContext {
  readonly modelId: string
  /** Unix seconds. */
  readonly created: number
  /** The names of the tools of the request. */
  readonly names: ToolNames
}

/** Reads the answer to a request without `stream`. */
export function* parseAnthropicAnswer(body: AnswerBody, context: AnswerContext): Steps<ChatResult> {
  const { text: json, value } = body
  if (value === undefined) return malformed('the answer is not JSON')
  const failure = isObject(value) ? findAnswerError(value) : undefined
  if (isObject(value) && failure) {
    return { ok: false, failure, usage: parseUsage(value['usage'], value['container']) }
  }
  const parsed = messageBody.safeParse(value)
  if (!parsed.success) return malformed('the answer is not a Messages API response')
  const { id, content, stop_reason, stop_details, container: used } = parsed.data
  const usage = parseUsage(parsed.data.usage, used)
  if (isEmptyAnswer(content, stop_reason)) return malformed('the answer is empty', usage)
  yield
  const explanation = stop_reason === 'refusal' ? stop_details?.explanation : undefined
  const calls = toToolCalls(content, json, context.names)
  yield
  const message = toCompletionMessage(content, calls)
  yield
  const carried = carryBlocks(content, json)
  yield
  const answer = createCompletionAnswer({
    id: id || newCompletionId(),
    created: context.created,
    model: context.modelId,
    choices: [
      {
        message: {
          ...message,
          ...carried,
          ...(explanation && { refusal: explanation }),
        },
        finishReason: mapFinishReason(stop_reason, calls.length > 0),
        extra: used ? { container: used } : undefined,
      },
    ],
    usage,
  })
  return { ok: true, answer }
}

function toCompletionMessage(
  content: readonly ContentBlock[],
  calls: readonly ToolCall[],
): CompletionMessage {
  const texts = content.filter(({ type }) => type === 'text')
  const thoughts = content.filter(({ type }) => type === 'thinking')
  const reasoning = thoughts.map(({ thinking }) => thinking ?? '').join('')
  const annotations = collectAnnotations(content)
  const blocks = collectThinking(content, (block) => (isThinking(block) ? block : undefined))
  return {
    content:
      texts.length === 0 && calls.length > 0
        ? null
        : texts.map((block) => block.text ?? '').join(''),
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(blocks.length > 0 && { thinking_blocks: blocks }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(annotations.length > 0 && { annotations }),
  }
}

/** The JSON text is read only if the blocks are carried. */
function carryBlocks(content: readonly ContentBlock[], json: string): Partial<CompletionMessage> {
  let texts: ReadonlyMap<number, string> | undefined
  const carried = carryContent(content, (index) => {
    texts ??= extractItems(json, 'content.*')
    return texts.get(index) ?? '{}'
  })
  return carried ? { provider_content: carried } : {}
}

function isCall({ type }: ContentBlock): boolean {
  return type === 'tool_use'
}

/** Takes the arguments from the JSON text itself: parsing would round large integers. */
function toToolCalls(content: readonly ContentBlock[], json: string, names: ToolNames): ToolCall[] {
  if (!content.some(isCall)) return []
  const inputs = extractItems(json, 'content.*.input')
  return content.flatMap((block, index) => {
    if (!isCall(block)) return []
    const text = normalizeArguments(inputs.get(index))
    const called = { name: names.restore(block.name ?? ''), arguments: text }
    return [{ id: block.id || newCallId(), type: 'function', function: called }]
  })
}

function malformed(detail: string, usage?: ReportedUsage): ChatResult {
  return { ok: false, failure: { kind: 'malformed', detail }, usage }
}
