import type { AnswerBody, AnswerResult, NativeAnswer } from '../../core/endpoints.ts'
import { messagesCounts, renderMessagesUsage } from '../../core/messages-usage.ts'
import { listEstimated, type ReportedUsage, type Usage } from '../../core/usage.ts'
import { mergeIntoMember } from '../../wire/json/merge.ts'
import { isObject } from '../../wire/json/parse.ts'
import { countUtf8Bytes } from '../../wire/utf8.ts'
import { asTextIfEqual } from '../base/answer-text.ts'
import { findAnswerError } from './errors.ts'
import { parseUsage } from './usage.ts'

type Result = AnswerResult<NativeAnswer>

/** Reads an answer whose bytes the client gets as they are, with an estimate where usage is missing. */
export function readNativeAnswer(body: AnswerBody): Result {
  const { value } = body
  if (value === undefined) return malformed('the answer is not JSON')
  if (!isObject(value)) return malformed('the answer is not a JSON object')
  const failure = findAnswerError(value)
  const { content, usage: counters, container, stop_reason: reason } = value
  if (failure) return { ok: false, failure, usage: parseUsage(counters, container) }
  if (!Array.isArray(content)) return malformed('the answer is not a Messages API response')
  let output = ''
  for (const block of content) if (isObject(block)) output += joinBlockText(block)
  const usage = parseUsage(counters, container)
  if (isEmptyAnswer(content, reason)) return malformed('the answer is empty', usage)
  return {
    ok: true,
    answer: {
      usage,
      output,
      outputBytes: countUtf8Bytes(output),
      isFiltered: output === '' && reason === 'refusal',
      render: (resolved) =>
        resolved.estimatedSide ? writeEstimate(body.bytes, resolved) : asTextIfEqual(body),
    },
  }
}

/** True for an answer without content that does not say why it ended. Models do end without a word. */
export function isEmptyAnswer(content: readonly unknown[], stopReason: unknown): boolean {
  if (typeof stopReason === 'string') return false
  return content.every((block) => !isObject(block) || (block['type'] === 'text' && !block['text']))
}

/** Joins the text that a model has generated in one block. */
export function joinBlockText({ text, thinking, name, input }: Record<string, unknown>): string {
  const texts = [text, thinking, name].filter((part) => typeof part === 'string')
  const isCalled = isObject(input) && Object.keys(input).length > 0
  return texts.join('') + (isCalled ? JSON.stringify(input) : '')
}

/** Keeps the members that the gateway does not count, such as the service tier. */
function writeEstimate(body: Uint8Array, usage: Usage): Uint8Array {
  const replaced = listEstimated(usage, messagesCounts)
  return mergeIntoMember(body, 'usage', { members: { ...renderMessagesUsage(usage) }, replaced })
}

function malformed(detail: string, usage?: ReportedUsage): Result {
  return { ok: false, failure: { kind: 'malformed', detail }, usage }
}
