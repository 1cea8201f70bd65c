import type { AnswerBody, ListedAnswer } from '../../core/endpoints.ts'
import type { Steps } from '../../core/steps.ts'
import { concat } from '../../wire/byte-list.ts'
import { EncodedPieces } from '../../wire/encoded-pieces.ts'
import { checkEvent, eventLimits, isObject } from '../../wire/json/parse.ts'
import { listItems } from '../../wire/json/text.ts'
import { writeDataEvent } from './events.ts'
import { JoinedChunks } from './joined-chunks.ts'
import { parseGeminiResponse } from './response.ts'

/**
 * Reads a JSON list of `GenerateContentResponse` objects, which the service sends as a stream without `alt=sse`.
 * Undefined for any other value. https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
 */
export function* readChunkList({ text, value }: AnswerBody): Steps<ListedAnswer | undefined> {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isObject)) return undefined
  const events = new EncodedPieces()
  const whole = new EncodedPieces()
  const joined = new JoinedChunks()
  let at = 0
  for (const json of listItems(text)) {
    events.add(writeDataEvent(json))
    const chunk = value[at++] ?? {}
    // The only event is the whole answer, and is judged as one.
    if (value.length === 1) whole.add(json)
    else {
      checkEvent(json, eventLimits)
      const response = parseGeminiResponse(json, chunk)
      if (!response) return undefined
      joined.add(chunk, { response, json })
    }
    yield
  }
  if (value.length > 1) {
    for (const piece of joined.write()) {
      whole.add(piece)
      yield
    }
  }
  // Joining tens of megabytes takes long enough.
  const joinedBytes = concat(whole.end())
  yield
  return { whole: joinedBytes, events: events.end() }
}
