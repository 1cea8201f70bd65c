import type { StatedCostReader } from '../../core/billing.ts'
import type { AnswerBody, ChatResult } from '../../core/endpoints.ts'
import type { RawChoice } from '../../core/frame.ts'
import {
  chatCounts,
  listEstimated,
  type ReportedUsage,
  renderUsage,
  type Usage,
} from '../../core/usage.ts'
import { mergeIntoMember } from '../../wire/json/merge.ts'
import { isObject } from '../../wire/json/parse.ts'
import { countUtf8Bytes } from '../../wire/utf8.ts'
import { asTextIfEqual } from '../base/answer-text.ts'
import { isHiddenError, toAnswerFailure } from '../base/hidden-error.ts'
import type { ChoiceReader } from '../profiles/index.ts'
import { listChoices } from './call-arguments.ts'
import { findFailedChoice } from './failed-choice.ts'
import { readAnswerUsage, reportTier } from './usage.ts'

/** How the answers of one API hold what was generated. */
export interface ChoiceForm {
  /** Returns the generated text of a choice. */
  readonly readText: (choice: RawChoice) => string
  /** False for a choice in which nothing is: neither content nor the reason why there is none. */
  readonly isAnswer: (choice: RawChoice) => boolean
  /** Reads what the vendor charges, where the configuration says how. */
  readonly readCost?: StatedCostReader | undefined
}

/**
 * Parses a whole answer with `choices`, whose bytes the client gets. One in which no choice is an answer has
 * failed. The reader changes the choices for a client of another API.
 */
export function parseOpenAiAnswer(
  body: AnswerBody,
  { readText, isAnswer, readCost }: ChoiceForm,
  reader?: ChoiceReader,
): ChatResult {
  const { value } = body
  if (value === undefined) return malformedResult('the answer is not JSON')
  if (!isObject(value)) return malformedResult('the answer is not a JSON object')
  const usage = readAnswerUsage(value, readCost) ?? reportTier(value['service_tier'])
  if (isHiddenError(value, value['choices'])) {
    return { ok: false, failure: toAnswerFailure(value), usage }
  }
  if (!Array.isArray(value['choices'])) return malformedResult('the answer has no choices')
  const failed = findFailedChoice(value['choices'])
  if (failed) return { ok: false, failure: failed, usage }
  const choices = value['choices'].filter(isObject)
  if (!choices.some(isAnswer)) return malformedResult('the answer is empty', usage)
  const output = choices.map(readText).join('')
  return {
    ok: true,
    answer: {
      choices: reader
        ? listChoices(value['choices'], body.text).map((choice) => reader.read(choice))
        : choices,
      usage,
      output,
      outputBytes: countUtf8Bytes(output),
      isFiltered: output === '' && choices.every(isFiltered),
      render: (resolved) =>
        resolved.estimatedSide ? writeEstimate(body.bytes, resolved) : asTextIfEqual(body),
    },
  }
}

function isFiltered({ finish_reason: reason }: RawChoice): boolean {
  return reason === 'content_filter'
}

/** Writes the estimated counts, and keeps all other members: details, and what the vendor charges. */
function writeEstimate(body: Uint8Array, usage: Usage): Uint8Array {
  const replaced = listEstimated(usage, chatCounts)
  return mergeIntoMember(body, 'usage', { members: renderUsage(usage), replaced })
}

function malformedResult(detail: string, usage?: ReportedUsage): ChatResult {
  return { ok: false, failure: { kind: 'malformed', detail }, usage }
}
