import type { AnswerBody, ChatResult } from '../../core/endpoints.ts'
import { newCompletionId } from '../../core/ids.ts'
import type { Steps } from '../../core/steps.ts'
import { unixSeconds } from '../../core/unix-seconds.ts'
import type { ReportedUsage } from '../../core/usage.ts'
import { toShapeFailure } from '../base/hidden-error.ts'
import {
  type CompletionChoice,
  type CompletionMessage,
  createCompletionAnswer,
} from '../canonical/completion.ts'
import { findAudio, toOpenAiAudio, toOpenAiImage } from './answer-media.ts'
import { carryContent, contentRules, isPlainText } from './content.ts'
import { parseFailure } from './errors.ts'
import { findFailedFinish, mapFinishReason, nativeFinishFields } from './finish-reason.ts'
import { hasSources, toAnnotations } from './grounding.ts'
import {
  type AnswerContext,
  createPartReader,
  type GeminiPart,
  type IndexedCandidate,
  type LogprobsResult,
  listCandidates,
  type PartReader,
  parseGeminiAnswer,
  readServedTier,
  type TokenLogprob,
} from './response.ts'
import { signatureFields, textSignature } from './signatures.ts'
import { countTools } from './tool-calls.ts'
import { toOpenAiToolCall } from './tools.ts'
import { parseUsage } from './usage.ts'

/** Parses a 2xx answer that is not streamed. */
export function* parseAnswer(
  body: AnswerBody,
  { target: { modelId, clock }, model, header, names }: AnswerContext,
): Steps<ChatResult> {
  const { text: json, value } = body
  const failure = parseFailure(value)
  const answer = yield* parseGeminiAnswer(json, value)
  if (!answer) {
    if (failure) return { ok: false, failure }
    return misshapen(value, 'the answer is not a GenerateContentResponse')
  }
  const candidates = listCandidates(answer)
  const usage = parseUsage(answer.usageMetadata, {
    tier: readServedTier(header),
    tools: countTools(candidates, model.generation),
  })
  const failed = failure ?? findFailedFinish(candidates)
  if (failed) return { ok: false, failure: failed, usage }
  if (candidates.length === 0) return misshapen(value, 'the answer has no candidates')
  if (candidates.every(isEmptyCandidate)) return malformed('the answer is empty', usage)
  const created = unixSeconds(clock)
  const readPart = createPartReader(json)
  const choices: CompletionChoice[] = []
  for (const candidate of candidates) {
    yield
    choices.push(yield* toChoice(candidate, { created, names, readPart }))
  }
  yield
  return {
    ok: true,
    answer: createCompletionAnswer({
      id: answer.responseId || newCompletionId(),
      created,
      model: modelId,
      choices,
      usage,
    }),
  }
}

/** True for a candidate without content that does not say why it ended. Models do end without a word. */
export function isEmptyCandidate({ content, finishReason }: IndexedCandidate): boolean {
  const parts = content?.parts ?? []
  return !finishReason && parts.every((part) => !part.text && isPlainText(part))
}

interface ChoiceContext extends Pick<AnswerContext, 'names'> {
  readonly created: number
  readonly readPart: PartReader
}

function* toChoice(
  candidate: IndexedCandidate,
  { created, names, readPart }: ChoiceContext,
): Steps<CompletionChoice> {
  const { content, finishReason, logprobsResult: tokens, refusal } = candidate
  if (refusal !== undefined) {
    // The service wrote the refusal, not the model: it must not count as generated output.
    const message = { content: null, refusal }
    return { message, generated: '', finishReason: mapFinishReason(finishReason, false) }
  }
  const parts = content?.parts ?? []
  const carried = carryContent(parts, (at) => readPart(candidate.position, at))
  yield
  const annotations = hasSources(candidate)
    ? yield* toAnnotations(candidate, parts.map(contentRules.readText))
    : []
  yield
  const message = {
    ...toMessage(parts, { created, names }),
    ...(annotations.length > 0 && { annotations }),
    ...(carried && { provider_content: carried }),
  }
  return {
    message,
    finishReason: mapFinishReason(finishReason, message.tool_calls !== undefined),
    extra: nativeFinishFields(candidate),
    ...(tokens && { logprobs: toOpenAiLogprobs(tokens) }),
  }
}

function toMessage(
  parts: readonly GeminiPart[],
  { created, names }: Omit<ChoiceContext, 'readPart'>,
): CompletionMessage {
  const shown = parts.filter(({ thought }) => thought !== true)
  const text = joinTexts(shown)
  const reasoning = joinTexts(parts.filter(({ thought }) => thought === true))
  const calls = shown.flatMap(({ functionCall, thoughtSignature }) =>
    functionCall ? toOpenAiToolCall(functionCall, { thoughtSignature, names }) : [],
  )
  const images = shown.flatMap((found) => toOpenAiImage(found) ?? [])
  const audio = findAudio(shown)
  const hasNoText = text === '' && (calls.length > 0 || audio.length > 0)
  return {
    content: hasNoText ? null : text,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(images.length > 0 && { images }),
    ...(audio.length > 0 && { audio: toOpenAiAudio(audio, created) }),
    ...signatureFields(shown.map(textSignature).findLast((signature) => signature !== undefined)),
  }
}

function joinTexts(parts: readonly GeminiPart[]): string {
  return parts.map(({ text }) => text ?? '').join('')
}

function misshapen(value: unknown, detail: string): ChatResult {
  return { ok: false, failure: toShapeFailure(value, detail) }
}

function malformed(detail: string, usage?: ReportedUsage): ChatResult {
  return { ok: false, failure: { kind: 'malformed', detail }, usage }
}

/** Log probabilities in OpenAI's shape. Gemini leaves out a log probability of zero. */
export function toOpenAiLogprobs({ chosenCandidates, topCandidates }: LogprobsResult): object {
  const content = (chosenCandidates ?? []).map((chosen, position) => ({
    ...toTokenLogprob(chosen),
    top_logprobs: (topCandidates?.[position]?.candidates ?? []).map(toTokenLogprob),
  }))
  return { content, refusal: null }
}

const encoder = new TextEncoder()

function toTokenLogprob({ token: text, logProbability }: TokenLogprob) {
  return { token: text ?? '', logprob: logProbability ?? 0, bytes: [...encoder.encode(text ?? '')] }
}
