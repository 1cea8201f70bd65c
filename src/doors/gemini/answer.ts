import type { ChatAnswer } from '../../core/endpoints.ts'
import type { RawChoice } from '../../core/frame.ts'
import type { Steps } from '../../core/steps.ts'
import { stringifyJson } from '../../wire/json/raw.ts'
import { readChoice } from '../choice.ts'
import type { ServedAnswer } from '../translated-link.ts'
import { repairCharacters } from '../whole-characters.ts'
import { newResponseId } from './ids.ts'
import { LogprobSum, readLogprobs } from './logprobs.ts'
import { CandidateParts, listImageParts } from './parts.ts'
import { renderUsageMetadata } from './usage.ts'

const encoder = new TextEncoder()

export interface AnswerOptions extends ServedAnswer {
  /** The client has asked to see thoughts. */
  readonly showsThoughts: boolean
}

/** Renders the answer of another API as a `GenerateContentResponse`. */
export function* renderAnswer(
  { choices }: ChatAnswer,
  { usage, model, showsThoughts }: AnswerOptions,
): Steps<Uint8Array> {
  const candidates: object[] = []
  for (const [index, choice] of choices.entries()) {
    candidates.push(renderCandidate(choice, { index, model, showsThoughts }))
    yield
  }
  const json = stringifyJson({
    candidates,
    usageMetadata: renderUsageMetadata(usage),
    modelVersion: model,
    responseId: newResponseId(),
  })
  yield
  return encoder.encode(json)
}

interface CandidateOptions extends Pick<AnswerOptions, 'model' | 'showsThoughts'> {
  readonly index: number
}

function renderCandidate(choice: RawChoice, { index, model, showsThoughts }: CandidateOptions) {
  const content = repairCharacters(readChoice(choice))
  const { reasoning, text, refusal } = content
  const last = new CandidateParts(model)
  last.add(content)
  const images = listImageParts(choice)
  const words = text || refusal
  const logprobsResult = readLogprobs(choice)
  const sum = new LogprobSum()
  sum.add(logprobsResult)
  const parts = [
    ...(showsThoughts && reasoning !== '' ? [{ text: reasoning, thought: true }] : []),
    ...last.finish(
      words === '' && (images.length > 0 || content.calls.length > 0) ? undefined : words,
    ),
    ...images,
  ]
  return {
    content: { parts, role: 'model' },
    finishReason: last.finishReason,
    index,
    ...last.grounding,
    ...(logprobsResult && { ...sum.member, logprobsResult }),
  }
}
