import type { StatedCostReader } from '../../core/billing.ts'
import type { ChunkIdentity, Frame, FrameDecoder } from '../../core/frame.ts'
import type { ReportedUsage } from '../../core/usage.ts'
import { createDroppedFrame, noBytes } from '../../stream/chunk-writer.ts'
import {
  isObject,
  type JsonObject,
  passedEventLimits,
  tryParseEvent,
  tryParseJson,
} from '../../wire/json/parse.ts'
import { JsonPattern } from '../../wire/json/pattern.ts'
import { type RawEvent, SseSplitter, skipBlankLines } from '../../wire/sse.ts'
import { countUtf8Bytes } from '../../wire/utf8.ts'
import { isHiddenError, isStatedError, toFrameFailure } from '../base/hidden-error.ts'
import { closeLastEvent } from './last-event.ts'
import { isFilteredResponse } from './responses-output.ts'
import { readResponsesUsage } from './responses-usage.ts'
import { ServedTier } from './served-tier.ts'

/**
 * Creates the decoder of a stream of the Responses API, whose bytes the client gets unchanged. The stream ends
 * with `response.completed` or `response.incomplete`, and has no `[DONE]`.
 * https://platform.openai.com/docs/api-reference/responses-streaming
 */
export function createResponsesDecoder(readCost?: StatedCostReader): FrameDecoder {
  const splitter = new SseSplitter()
  const deltas = new JsonPattern({
    readText: (json) => readDelta(toMembers(tryParseJson(json))),
    varying: ['sequence_number', 'obfuscation'],
  })
  const served = new ServedTier()
  const read = (event: RawEvent) => {
    const repeated = event.data === undefined ? undefined : deltas.match(event.data)
    return repeated?.text
      ? [toDelta(skipBlankLines(event.bytes), repeated.text)]
      : readEvent(event, { deltas, readCost, served })
  }
  return {
    push: (bytes) => splitter.push(bytes).flatMap(read),
    end: () => splitter.end().flatMap((event) => closeLastEvent(event).flatMap(read)),
  }
}

interface EventReader {
  readonly deltas: JsonPattern
  readonly readCost: StatedCostReader | undefined
  /** The tier that served: a stream may break off before its usage, and not every event repeats it. */
  readonly served: ServedTier
}

function readEvent({ bytes: given, data, event }: RawEvent, reader: EventReader): readonly Frame[] {
  const { deltas } = reader
  if (data === undefined) return [createDroppedFrame(given)]
  const bytes = skipBlankLines(given)
  const quiet: Frame = { bytes, kind: 'quiet', outputBytes: 0 }
  // The terminator of the chat API, which some servers add, is not an event of this API.
  if (data.startsWith('[DONE]')) return [{ ...quiet, bytes: noBytes }]
  const payload = tryParseEvent(data, passedEventLimits)
  if (!isObject(payload)) {
    if (event === 'error') return [toErrorFrame(quiet, data)]
    return [data.trim() === '' ? createDroppedFrame(bytes) : quiet]
  }
  const text = readDelta(payload)
  if (text) deltas.learn(data, text)
  const { response, error } = payload
  if (isStatedError(error)) return [toErrorFrame(quiet, { error })]
  const type = typeof payload['type'] === 'string' ? payload['type'] : event
  switch (type) {
    case 'response.created':
    case 'response.queued':
    case 'response.in_progress':
      return [
        {
          ...quiet,
          identity: readIdentity(response),
          usage: reader.served.report(toMembers(response)),
        },
      ]
    case 'response.completed':
    case 'response.incomplete':
      if (isStatedError(toMembers(response)['error']))
        return [toFailedFrame(quiet, response, reader)]
      return [
        // An answer without text is an answer too: it commits the stream.
        {
          bytes: noBytes,
          kind: 'content',
          outputBytes: 0,
          finished: 'all',
          isFiltered: isFilteredResponse(response),
        },
        { ...quiet, kind: 'done', usage: readUsage(response, reader) },
      ]
    case 'response.failed':
      return [toFailedFrame(quiet, response, reader)]
    case 'error':
      return [toErrorFrame(quiet, toErrorBody(payload))]
    case undefined:
      return [isHiddenError(payload, undefined) ? toErrorFrame(quiet, payload) : quiet]
    default:
      return [readContent(quiet, type, payload)]
  }
}

/** Content is the first delta of any kind that is not empty, or the call of a tool. */
function readContent(quiet: Frame, type: string, { delta, item }: JsonObject): Frame {
  if (type === 'response.output_item.added' || type === 'response.output_item.done') {
    return isCall(item) ? { ...quiet, kind: 'content' } : quiet
  }
  if (!type.endsWith('.delta') || typeof delta !== 'string' || delta === '') return quiet
  return toDelta(quiet.bytes, delta)
}

function toDelta(bytes: Uint8Array, output: string): Frame {
  return { bytes, kind: 'content', output, outputBytes: countUtf8Bytes(output) }
}

/** Returns the text of a delta; undefined for another event. */
function readDelta({ type, delta }: JsonObject): string | undefined {
  const isDelta = typeof type === 'string' && type.endsWith('.delta')
  return isDelta && typeof delta === 'string' ? delta : undefined
}

function isCall(item: unknown): boolean {
  const { type } = toMembers(item)
  return typeof type === 'string' && type.endsWith('_call')
}

/** A response that has failed is billed. */
function toFailedFrame(quiet: Frame, response: unknown, reader: EventReader): Frame {
  const { error } = toMembers(response)
  return { ...toErrorFrame(quiet, { error }), usage: readUsage(response, reader), isBilled: true }
}

function readUsage(
  response: unknown,
  { readCost, served }: EventReader,
): ReportedUsage | undefined {
  return readResponsesUsage(served.addTo(toMembers(response)), readCost)
}

function toErrorFrame(quiet: Frame, error: unknown): Frame {
  return { ...quiet, kind: 'error', failure: toFrameFailure(error) }
}

/** OpenAI nests the members of the error, as its published schema does not. */
function toErrorBody({ error, code, message, param }: JsonObject): object {
  return { error: isObject(error) ? error : { code, message, param } }
}

function readIdentity(response: unknown): ChunkIdentity {
  const { id, created_at: created, model } = toMembers(response)
  return {
    id: typeof id === 'string' ? id : undefined,
    created: typeof created === 'number' ? created : undefined,
    model: typeof model === 'string' ? model : undefined,
  }
}

function toMembers(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}
