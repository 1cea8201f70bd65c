import { newCompletionId } from '../../core/ids.ts'
import type { ChatResult, Target } from '../../core/provider.ts'
import { unixSeconds } from '../../core/unix-seconds.ts'
import { isCount, isCountOrNone, type ReportedUsage } from '../../core/usage.ts'
import { isObject, jsonIn } from '../../wire/json.ts'
import {
  type CompletionChoice,
  type CompletionMessage,
  completionAnswer,
} from '../canonical/completion.ts'
import { audioMessage, imageOf, soundsIn } from './answer-media.ts'
import { toolCallOf } from './arguments.ts'
import { geminiFailure } from './errors.ts'
import { finishReasonOf, nativeFinish } from './finish-reason.ts'
import { logprobsOf } from './logprobs.ts'
import { candidatesOf, type GeminiPart, type PlacedCandidate, parseGemini } from './response.ts'
import { signatureOf, signed } from './signatures.ts'

const decoder = new TextDecoder()

/** Reads a 2xx answer that is not streamed. */
export function geminiAnswer(body: Uint8Array, { modelId, clock }: Target): ChatResult {
  const json = decoder.decode(body)
  const value = jsonIn(json)
  const failure = geminiFailure(value)
  if (failure) return { ok: false, failure }
  const answer = parseGemini(json, value)
  if (!answer) return malformed('the answer is no GenerateContentResponse')
  const candidates = candidatesOf(answer)
  if (candidates.length === 0) return malformed('the answer has no candidates')
  const created = unixSeconds(clock)
  return {
    ok: true,
    answer: completionAnswer({
      id: answer.responseId || newCompletionId(),
      created,
      model: modelId,
      choices: candidates.map((candidate) => choiceOf(candidate, created)),
      usage: usageOf(answer.usageMetadata),
    }),
  }
}

function choiceOf(candidate: PlacedCandidate, created: number): CompletionChoice {
  const { content, finishReason, logprobsResult: tokens, refusal } = candidate
  if (refusal !== undefined) {
    // The service's words, which no model has generated and nobody pays for.
    const message = { content: null, refusal }
    return { message, generated: '', finishReason: finishReasonOf(finishReason, false) }
  }
  const message = messageOf(content?.parts ?? [], created)
  return {
    message,
    finishReason: finishReasonOf(finishReason, message.tool_calls !== undefined),
    extra: nativeFinish(candidate),
    ...(tokens && { logprobs: logprobsOf(tokens) }),
  }
}

function messageOf(parts: readonly GeminiPart[], created: number): CompletionMessage {
  const spoken = parts.filter(({ thought }) => thought !== true)
  const text = textOf(spoken)
  const reasoning = textOf(parts.filter(({ thought }) => thought === true))
  const calls = spoken.flatMap(({ functionCall, thoughtSignature }) =>
    functionCall ? toolCallOf(functionCall, thoughtSignature) : [],
  )
  const images = spoken.flatMap((found) => imageOf(found) ?? [])
  const sounds = soundsIn(spoken)
  const isMute = text === '' && (calls.length > 0 || sounds.length > 0)
  return {
    content: isMute ? null : text,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(images.length > 0 && { images }),
    ...(sounds.length > 0 && { audio: audioMessage(sounds, created) }),
    ...signed(spoken.map(signatureOf).findLast((signature) => signature !== undefined)),
  }
}

function textOf(parts: readonly GeminiPart[]): string {
  return parts.map(({ text }) => text ?? '').join('')
}

/** `usageMetadata`, in which zeros are often left out. Undefined when it cannot be used. */
export function usageOf(metadata: unknown): ReportedUsage | undefined {
  if (!isObject(metadata)) return undefined
  const prompt = metadata['promptTokenCount'] ?? undefined
  const toolUse = metadata['toolUsePromptTokenCount'] ?? 0
  const candidates = metadata['candidatesTokenCount'] ?? 0
  const thoughts = metadata['thoughtsTokenCount'] ?? undefined
  const total = metadata['totalTokenCount'] ?? undefined
  const cached = metadata['cachedContentTokenCount'] ?? undefined
  if (!isCountOrNone(prompt) || !isCount(toolUse) || !isCount(candidates)) return undefined
  if (!isCountOrNone(thoughts) || !isCountOrNone(total) || !isCountOrNone(cached)) return undefined
  const generated = candidates + (thoughts ?? 0)
  // Without anything generated the total says nothing of either side.
  const rest = total !== undefined && generated > 0 ? total - generated : undefined
  const promptTokens = prompt === undefined ? rest : prompt + toolUse
  // Some deployments count thoughts as candidates too; their total gives it away.
  const isInclusive = promptTokens !== undefined && promptTokens + candidates === total
  return {
    promptTokens,
    completionTokens: isInclusive ? candidates : generated,
    cachedTokens: cached,
    reasoningTokens: thoughts,
  }
}

function malformed(detail: string): ChatResult {
  return { ok: false, failure: { kind: 'malformed', detail } }
}
