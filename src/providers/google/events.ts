import type { AnswerBody } from '../../core/endpoints.ts'
import { eventLimits, isObject, tryParseEvent } from '../../wire/json/parse.ts'
import type { RepeatedJsonOptions } from '../../wire/json/repeated.ts'
import { toOneLine } from '../base/answer-events.ts'
import { isPlainText } from './content.ts'
import { parseFailure } from './errors.ts'
import { type GeminiPart, type GeminiResponse, parseGeminiResponse } from './response.ts'
import { growingCounts } from './usage.ts'

/** Events with a piece of the text differ only in that text and in the counts so far. */
export const repeatedPieces: RepeatedJsonOptions<GeminiResponse> = {
  read(json) {
    const value = tryParseEvent(json, eventLimits)
    return parseFailure(value) ? undefined : parseGeminiResponse(json, value)
  },
  readText: (event) => findPiece(event)?.text ?? undefined,
  repeat: (event, { text, counts }) => ({
    ...event,
    candidates: event.candidates?.map((candidate) => ({
      ...candidate,
      content: { parts: [{ ...findPiece(event), text }] },
    })),
    usageMetadata: readCounts(event) && { ...readCounts(event), ...counts },
  }),
  counts: { names: growingCounts, read: readCounts },
}

/** Returns the only part of an event, if it is a piece of the text or of a thought that goes on. */
function findPiece({ candidates }: GeminiResponse): GeminiPart | undefined {
  const [candidate] = candidates?.length === 1 ? candidates : []
  // Nothing is to be learned from the last event of an answer.
  const parts = candidate?.finishReason ? undefined : candidate?.content?.parts
  const [part] = parts?.length === 1 ? parts : []
  return part && isPlainText(part) ? part : undefined
}

function readCounts({ usageMetadata }: GeminiResponse): Record<string, unknown> | undefined {
  return isObject(usageMetadata) ? usageMetadata : undefined
}

const encoder = new TextEncoder()

/** Writes a whole answer as a stream: its only event has the same form. */
export function writeAnswerEvent({ text }: AnswerBody): Uint8Array {
  return encoder.encode(writeDataEvent(text))
}

/** Writes the JSON text of an answer, or of a piece of one, as an event. */
export function writeDataEvent(json: string): string {
  return `data: ${toOneLine(json)}\n\n`
}
