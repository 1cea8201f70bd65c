import { z } from 'zod'
import { newCompletionId } from '../../../core/ids.ts'
import type { ChatReading, Target } from '../../../core/provider.ts'
import { unixSeconds } from '../../../core/unix-seconds.ts'
import { isCount, type Usage } from '../../../core/usage.ts'
import type { FinishReason } from '../../../stream/chunk-writer.ts'
import { jsonIn } from '../../../wire/json.ts'
import { type CompletionMessage, completionAnswer, type ToolCall } from '../openai/completion.ts'
import { isObject } from '../openai/usage.ts'
import { geminiFailure } from './gemini-error.ts'

const functionCall = z.object({
  id: z.string().nullish(),
  name: z.string().nullish(),
  args: z.unknown().optional(),
})

const part = z.object({
  text: z.string().nullish(),
  thought: z.boolean().nullish(),
  thoughtSignature: z.string().nullish(),
  functionCall: functionCall.nullish(),
  inlineData: z.object({ mimeType: z.string().nullish(), data: z.string().nullish() }).nullish(),
})

const token = z.object({ token: z.string().nullish(), logProbability: z.number().nullish() })

const logprobsResult = z.object({
  chosenCandidates: z.array(token).nullish(),
  topCandidates: z.array(z.object({ candidates: z.array(token).nullish() })).nullish(),
})

const candidate = z.object({
  index: z.int().nonnegative().nullish(),
  content: z.object({ parts: z.array(part).nullish() }).nullish(),
  finishReason: z.string().nullish(),
  logprobsResult: logprobsResult.nullish(),
})

const response = z.object({
  responseId: z.string().nullish(),
  candidates: z.array(candidate).nullish(),
  promptFeedback: z.object({ blockReason: z.string().nullish() }).nullish(),
  usageMetadata: z.unknown().optional(),
})

/** A `GenerateContentResponse`: a whole answer, or one event of a stream. */
export type GeminiResponse = z.infer<typeof response>
export type GeminiCandidate = z.infer<typeof candidate>
export type GeminiPart = z.infer<typeof part>

const decoder = new TextDecoder()

/** Reads a 2xx answer that is not streamed. */
export function geminiAnswer(body: Uint8Array, { modelId, clock }: Target): ChatReading {
  const value = jsonIn(decoder.decode(body))
  const failure = geminiFailure(value)
  if (failure) return { ok: false, failure }
  const answer = parseGemini(value)
  if (!answer) return malformed('the answer is no GenerateContentResponse')
  const candidates = candidatesOf(answer)
  if (candidates.length === 0) return malformed('the answer has no candidates')
  return {
    ok: true,
    answer: completionAnswer({
      id: answer.responseId || newCompletionId(),
      created: unixSeconds(clock),
      model: modelId,
      choices: candidates.map(choiceOf),
      usage: usageOf(answer.usageMetadata),
    }),
  }
}

/** Undefined when it is no such response. */
export function parseGemini(value: unknown): GeminiResponse | undefined {
  return response.safeParse(value).data
}

/**
 * The candidates in the order of their indexes, which are left out where they go without saying. A
 * prompt that was blocked has none: it reads as one candidate that was cut off at once.
 */
export function candidatesOf({
  candidates,
  promptFeedback,
}: GeminiResponse): (GeminiCandidate & { readonly index: number })[] {
  if (candidates && candidates.length > 0) {
    return candidates
      .map((found, position) => ({ ...found, index: found.index ?? position }))
      .sort((a, b) => a.index - b.index)
  }
  const reason = promptFeedback?.blockReason
  // Both spellings of "unspecified" occur, and mean that nothing was blocked.
  if (!reason || reason.endsWith('UNSPECIFIED')) return []
  return [{ index: 0, finishReason: 'PROHIBITED_CONTENT' }]
}

function choiceOf({ content, finishReason, logprobsResult: tokens }: GeminiCandidate) {
  const message = messageOf(content?.parts ?? [])
  return {
    message,
    finishReason: finishReasonOf(finishReason, message.tool_calls !== undefined),
    ...(tokens && { logprobs: logprobsOf(tokens) }),
  }
}

function messageOf(parts: readonly GeminiPart[]): CompletionMessage {
  const spoken = parts.filter(({ thought }) => thought !== true)
  const text = textOf(spoken)
  const reasoning = textOf(parts.filter(({ thought }) => thought === true))
  const calls = parts.flatMap((found) => toolCallOf(found) ?? [])
  const images = parts.flatMap((found) => imageOf(found) ?? [])
  return {
    content: text === '' && calls.length > 0 ? null : text,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(images.length > 0 && { images }),
  }
}

function textOf(parts: readonly GeminiPart[]): string {
  return parts.map(({ text }) => text ?? '').join('')
}

interface SignedToolCall extends ToolCall {
  readonly extra_content?: { readonly google: { readonly thought_signature: string } }
}

/**
 * The call that a part makes, in one piece even in a stream. Its thought signature travels in
 * `extra_content`, where Google's own OpenAI-compatible API puts it: newer models want it back.
 */
export function toolCallOf({
  functionCall: made,
  thoughtSignature,
}: GeminiPart): SignedToolCall | undefined {
  if (!made) return undefined
  return {
    id: made.id || newCallId(),
    type: 'function',
    function: { name: made.name ?? '', arguments: JSON.stringify(made.args ?? {}) },
    ...(thoughtSignature && { extra_content: { google: { thought_signature: thoughtSignature } } }),
  }
}

/** Older models give no ids, and their answers may call one function twice. */
function newCallId(): string {
  return `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`
}

/** An image that the model has made, in the form that other gateways have made usual. */
export function imageOf({ inlineData }: GeminiPart): object | undefined {
  const { mimeType, data } = inlineData ?? {}
  if (!data || !mimeType?.startsWith('image/')) return undefined
  return { type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } }
}

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ['MAX_TOKENS', 'length'],
  // A cap on one request was reached; the gateway does not go on by itself.
  ['CONTINUATION', 'length'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['LANGUAGE', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
  ['IMAGE_SAFETY', 'content_filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['IMAGE_RECITATION', 'content_filter'],
  ['MODEL_ARMOR', 'content_filter'],
])

/** `STOP`, whatever is unknown, and failed calls alike are the plain end: of a turn, or of calls. */
export function finishReasonOf(reason: string | null | undefined, called: boolean): FinishReason {
  return finishReasons.get(reason ?? '') ?? (called ? 'tool_calls' : 'stop')
}

/** The log probabilities of a candidate as the OpenAI API writes them. A zero is left out upstream. */
export function logprobsOf({
  chosenCandidates,
  topCandidates,
}: z.infer<typeof logprobsResult>): object {
  const content = (chosenCandidates ?? []).map((chosen, position) => ({
    ...tokenOf(chosen),
    top_logprobs: (topCandidates?.[position]?.candidates ?? []).map(tokenOf),
  }))
  return { content, refusal: null }
}

const encoder = new TextEncoder()

function tokenOf({ token: text, logProbability }: z.infer<typeof token>) {
  return { token: text ?? '', logprob: logProbability ?? 0, bytes: [...encoder.encode(text ?? '')] }
}

const usageFields = [
  'promptTokenCount',
  'toolUsePromptTokenCount',
  'candidatesTokenCount',
  'thoughtsTokenCount',
  'totalTokenCount',
  'cachedContentTokenCount',
] as const

/** `usageMetadata`, in which zeros are often left out. Undefined when it cannot be used. */
export function usageOf(metadata: unknown): Usage | undefined {
  if (!isObject(metadata)) return undefined
  const told = usageFields.map((field) => metadata[field] ?? undefined)
  if (!told.every((count) => count === undefined || isCount(count))) return undefined
  const [prompt, toolUse = 0, candidates = 0, thoughts, total, cached] = told
  if (prompt === undefined && total === undefined) return undefined
  const generated = candidates + (thoughts ?? 0)
  const promptTokens =
    prompt === undefined ? Math.max(0, (total ?? 0) - generated) : prompt + toolUse
  // Some deployments count thoughts as candidates too; their total gives it away.
  const isInclusive = promptTokens + candidates === total
  const completionTokens = isInclusive ? candidates : generated
  return {
    promptTokens,
    completionTokens,
    totalTokens: total ?? promptTokens + completionTokens,
    cachedTokens: cached,
    reasoningTokens: thoughts,
    estimated: false,
  }
}

function malformed(detail: string): ChatReading {
  return { ok: false, failure: { kind: 'malformed', detail } }
}
