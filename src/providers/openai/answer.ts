import type { ChatResult } from '../../core/endpoints.ts'
import type { RawChoice } from '../../core/frame.ts'
import type { AsciiText, BufferedBody } from '../../core/ports.ts'
import { chatCounts, listEstimated, renderUsage, type Usage } from '../../core/usage.ts'
import { isObject, tryParseJson } from '../../wire/json.ts'
import { mergeIntoMember } from '../../wire/json-merge.ts'
import { countUtf8Bytes } from '../../wire/utf8.ts'
import { toAnswerFailure } from './errors.ts'
import { readUsage } from './usage.ts'

/**
 * Parses a whole answer with `choices`, whose bytes the client gets. `readText` returns the generated text
 * of a choice.
 */
export function parseOpenAiAnswer(
  body: Uint8Array,
  readText: (choice: RawChoice) => string,
): ChatResult {
  const text = decoder.decode(body)
  const value = tryParseJson(text)
  if (value === undefined) return malformedResult('the answer is not JSON')
  if (!isObject(value)) return malformedResult('the answer is not a JSON object')
  if (!Array.isArray(value['choices'])) {
    // OpenRouter and similar vendors return an error with status 200.
    if (value['error'] !== undefined && value['error'] !== null) {
      return { ok: false, failure: toAnswerFailure(value) }
    }
    return malformedResult('the answer has no choices')
  }
  const choices = value['choices'].filter(isObject)
  const output = choices.map(readText).join('')
  return {
    ok: true,
    answer: {
      choices,
      usage: readUsage(value['usage']),
      output,
      outputBytes: countUtf8Bytes(output),
      render: (usage) =>
        usage.estimatedSide ? writeEstimate(body, usage) : asTextIfEqual(text, body),
    },
  }
}

const decoder = new TextDecoder()

/** Returns the answer as text when that has the same bytes, and as bytes otherwise. */
function asTextIfEqual(text: string, body: Uint8Array): BufferedBody {
  // Equal lengths mean one character per byte, so ASCII, or invalid UTF-8 that decoding replaced.
  return text.length === body.length && !text.includes('\ufffd') ? (text as AsciiText) : body
}

/** Writes the estimated counts, and keeps all other members: details, and what the vendor charges. */
function writeEstimate(body: Uint8Array, usage: Usage): Uint8Array {
  const replaced = listEstimated(usage, chatCounts)
  return mergeIntoMember(body, 'usage', { members: renderUsage(usage), replaced })
}

function malformedResult(detail: string): ChatResult {
  return { ok: false, failure: { kind: 'malformed', detail } }
}
