import type { Frame, FrameDecoder } from '../../core/frame.ts'
import type { ReportedUsage } from '../../core/usage.ts'
import { createDroppedFrame, createFailedFrame, noBytes } from '../../stream/chunk-writer.ts'
import { concat } from '../../wire/byte-list.ts'
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
import { findEventError } from './errors.ts'
import { joinBlockText } from './native-answer.ts'
import { addCounters, addStartCounters, parseUsage } from './usage.ts'

/**
 * Classifies the events of a stream whose bytes the client gets unchanged. The event with the stop reason
 * and those behind it are held until `message_stop`, and leave in one frame with it: the writer may have to
 * add usage to them.
 */
export class NativeStream implements FrameDecoder {
  readonly #splitter = new SseSplitter()
  readonly #deltas = new JsonPattern({
    readText: (json) => {
      const event = tryParseJson(json)
      return isObject(event) ? readDeltaText(event) : undefined
    },
  })
  #usage: Readonly<Record<string, unknown>> | undefined
  #container: unknown
  /** The events since the stop reason. */
  #tail: Uint8Array[] | undefined

  push(bytes: Uint8Array): Frame[] {
    const frames: Frame[] = []
    for (const event of this.#splitter.push(bytes)) frames.push(...this.#read(event))
    return frames
  }

  end(): Frame[] {
    const frames: Frame[] = []
    for (const event of this.#splitter.end()) {
      // A torn event is dropped: the client would read it as malformed JSON.
      const isWhole = event.data !== undefined && tryParseJson(event.data) !== undefined
      if (isWhole) frames.push(...this.#read(closeEvent(event)))
    }
    const isOver = frames.some(({ kind }) => kind === 'done' || kind === 'error')
    // Some compatible servers close the stream after the stop reason.
    return isOver || !this.#tail ? frames : [...frames, this.#finish(messageStop)]
  }

  #read({ bytes: given, data, event: name }: RawEvent): Frame[] {
    if (data === '[DONE]') return this.#tail ? [this.#finish(messageStop)] : []
    if (data === undefined) return this.#pass(createDroppedFrame(given))
    const bytes = skipBlankLines(given)
    const repeated = this.#deltas.match(data)
    if (repeated?.text) return this.#release(toFrame(bytes, repeated.text, true))
    const event = tryParseEvent(data, passedEventLimits)
    if (!isObject(event)) {
      const isEmpty = data.trim() === ''
      return this.#pass(
        isEmpty ? createDroppedFrame(bytes) : { bytes, kind: 'quiet', outputBytes: 0 },
      )
    }
    const text = readDeltaText(event)
    if (text) this.#deltas.learn(data, text)
    const type = typeof event['type'] === 'string' ? event['type'] : name
    const failure = findEventError(event, type)
    if (failure) {
      const usage = addCounters(this.#usage, event['usage'])
      return this.#release(createFailedFrame(failure, parseUsage(usage, this.#container)))
    }
    switch (type) {
      case 'message_start':
        return this.#pass(this.#start(bytes, event['message']))
      case 'content_block_start':
        return this.#release(readBlockStart(bytes, event['content_block']))
      case 'content_block_delta':
        return this.#release(readDelta(bytes, event['delta']))
      case 'message_delta':
        return this.#readEnding(bytes, event)
      case 'message_stop':
        return [this.#finish(bytes)]
      default:
        return this.#pass({ bytes, kind: 'quiet', outputBytes: 0 })
    }
  }

  #start(bytes: Uint8Array, message: unknown): Frame {
    const { usage, container } = isObject(message) ? message : noMembers
    this.#container = container ?? this.#container
    this.#usage = addStartCounters(this.#usage, usage)
    return { bytes, kind: 'quiet', outputBytes: 0, usage: parseUsage(this.#usage, this.#container) }
  }

  /** The stop reason commits a stream, although its bytes are sent later. */
  #readEnding(bytes: Uint8Array, { delta, usage }: JsonObject): Frame[] {
    this.#usage = addCounters(this.#usage, usage)
    this.#container = (isObject(delta) ? delta['container'] : undefined) ?? this.#container
    const reported: ReportedUsage | undefined = parseUsage(this.#usage, this.#container)
    const isEnd = isObject(delta) && typeof delta['stop_reason'] === 'string'
    const frames = this.#release({
      bytes: noBytes,
      kind: isEnd ? 'content' : 'quiet',
      outputBytes: 0,
      usage: reported,
      finished: isEnd ? 'all' : undefined,
      isFiltered: isEnd && delta['stop_reason'] === 'refusal',
    })
    this.#tail = [bytes]
    return frames
  }

  /** Passes a frame on, or keeps its bytes behind the stop reason. */
  #pass(frame: Frame): Frame[] {
    if (!this.#tail) return [frame]
    this.#tail.push(frame.bytes)
    return []
  }

  /** Passes a frame on, after the events that were held. */
  #release(frame: Frame): Frame[] {
    const held = this.#tail
    this.#tail = undefined
    return held ? [{ bytes: concat(held), kind: 'quiet', outputBytes: 0 }, frame] : [frame]
  }

  #finish(last: Uint8Array): Frame {
    const held = this.#tail ?? []
    this.#tail = undefined
    return { bytes: concat([...held, last]), kind: 'done', outputBytes: 0 }
  }
}

const noMembers: JsonObject = Object.freeze({})

const messageStop = new TextEncoder().encode(
  'event: message_stop\ndata: {"type":"message_stop"}\n\n',
)

/** A block of another type than text and thinking is content by itself: a call, or a vendor-run tool. */
function readBlockStart(bytes: Uint8Array, block: unknown): Frame {
  if (!isObject(block)) return { bytes, kind: 'quiet', outputBytes: 0 }
  const output = joinBlockText(block)
  const isProse = proseBlocks.has(block['type'])
  return toFrame(bytes, output, !isProse || output !== '')
}

const proseBlocks: ReadonlySet<unknown> = new Set(['text', 'thinking', 'redacted_thinking'])

function readDelta(bytes: Uint8Array, delta: unknown): Frame {
  if (!isObject(delta)) return { bytes, kind: 'quiet', outputBytes: 0 }
  const output = joinDeltaText(delta)
  return toFrame(bytes, output, output !== '' || isObject(delta['citation']))
}

function joinDeltaText({ text, thinking, partial_json: json }: JsonObject): string {
  return [text, thinking, json].filter((part) => typeof part === 'string').join('')
}

/** Returns the text of a delta; undefined for an event of another type. */
function readDeltaText({ type, delta }: JsonObject): string | undefined {
  return type === 'content_block_delta' && isObject(delta) ? joinDeltaText(delta) : undefined
}

function toFrame(bytes: Uint8Array, output: string, isContent: boolean): Frame {
  const kind = isContent ? 'content' : 'quiet'
  return { bytes, kind, output, outputBytes: countUtf8Bytes(output) }
}

/** Adds the blank line that the last event of a body may lack. */
function closeEvent(event: RawEvent): RawEvent {
  if (event.closed) return event
  const missing = event.bytes.at(-1) === lf ? 1 : 2
  const closed = new Uint8Array(event.bytes.length + missing).fill(lf)
  closed.set(event.bytes)
  return { ...event, bytes: closed }
}

const lf = 0x0a
