import type { BufferedBody } from '../core/ports.ts'
import type { KeptAnswer } from '../data-plane/index.ts'
import type { JsonObject } from '../wire/json/parse.ts'
import type { TimeSlice } from '../wire/time-slice.ts'

/** The two forms of the answers of one API, as the gateway writes them. */
export interface AnswerForms {
  /** Returns the whole answer that a complete stream amounts to. */
  readonly toWhole: (stream: BufferedBody, slice: TimeSlice) => BufferedBody | Promise<BufferedBody>
  /** Returns the stream of a whole answer. */
  readonly toStream: (whole: BufferedBody) => BufferedBody
}

export interface AnswerConversion extends AnswerForms {
  readonly asStream: boolean
  readonly slice: TimeSlice
}

/** Returns an answer as a stream or whole. */
export function convertAnswer(
  { body, isStream }: KeptAnswer,
  { asStream, slice, toWhole, toStream }: AnswerConversion,
): BufferedBody | Promise<BufferedBody> {
  if (isStream === asStream) return body
  return asStream ? toStream(body) : toWhole(body, slice)
}

/** How much of a stream is read at once, in characters: about a millisecond's work. */
const maxAtOnce = 32 * 1024

/** Reads the JSON objects in the events of a stream that the gateway has written, many at once. */
export async function* readWrittenEvents(
  stream: BufferedBody,
  slice: TimeSlice,
  parse: (json: string) => JsonObject = JSON.parse,
): AsyncGenerator<readonly JsonObject[]> {
  const text = decodeBody(stream)
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf(eventEnd, at + maxAtOnce)
    const events = text.slice(at, end < 0 ? text.length : end).split(eventEnd)
    yield events.flatMap((event) => parseEvent(event, parse))
    at = end < 0 ? text.length : end
    await slice.pause()
  }
}

/** No event has it inside: JSON texts have no line ends. */
const eventEnd = '\n\n'

function parseEvent(event: string, parse: (json: string) => JsonObject): JsonObject[] {
  const start = event.indexOf('data: {')
  return start < 0 ? [] : [parse(event.slice(start + 'data: '.length))]
}

/** Returns the text of a body. */
export function decodeBody(body: BufferedBody): string {
  return typeof body === 'string' ? body : decoder.decode(body)
}

const decoder = new TextDecoder()
