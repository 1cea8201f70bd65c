import { newCompletionId } from '../../core/ids.ts'
import type { ChatResult, DialectTarget } from '../../core/provider.ts'
import { unixSeconds } from '../../core/unix-seconds.ts'
import { jsonIn } from '../../wire/json.ts'
import {
  type CompletionChoice,
  type CompletionMessage,
  completionAnswer,
} from '../canonical/completion.ts'
import { audioMessage, imageOf, soundsIn } from './answer-media.ts'
import { geminiFailure } from './errors.ts'
import { finishReasonOf, nativeFinish } from './finish-reason.ts'
import {
  candidatesOf,
  type GeminiPart,
  type LogprobsResult,
  type PlacedCandidate,
  parseGemini,
  type TokenLogprob,
} from './response.ts'
import { signatureOf, signed } from './signatures.ts'
import { toolCallOf } from './tools.ts'
import { usageOf } from './usage.ts'

const decoder = new TextDecoder()

/** Reads a 2xx answer that is not streamed. */
export function geminiAnswer(body: Uint8Array, { modelId, clock }: DialectTarget): ChatResult {
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

function malformed(detail: string): ChatResult {
  return { ok: false, failure: { kind: 'malformed', detail } }
}

/** The log probabilities of a candidate as the OpenAI API writes them. A zero is left out upstream. */
export function logprobsOf({ chosenCandidates, topCandidates }: LogprobsResult): object {
  const content = (chosenCandidates ?? []).map((chosen, position) => ({
    ...tokenOf(chosen),
    top_logprobs: (topCandidates?.[position]?.candidates ?? []).map(tokenOf),
  }))
  return { content, refusal: null }
}

const encoder = new TextEncoder()

function tokenOf({ token: text, logProbability }: TokenLogprob) {
  return { token: text ?? '', logprob: logProbability ?? 0, bytes: [...encoder.encode(text ?? '')] }
}
