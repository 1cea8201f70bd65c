import type { NativeCall } from '../../core/endpoints.ts'
import type { GatewayError } from '../../core/errors.ts'
import type { Frame } from '../../core/frame.ts'
import { messagesCounts, renderMessagesUsage } from '../../core/messages-usage.ts'
import { listEstimated, type Usage } from '../../core/usage.ts'
import type { WriterContext } from '../../data-plane/index.ts'
import type { FinalUsage, StreamWriter } from '../../stream/stream-writer.ts'
import { concat } from '../../wire/byte-list.ts'
import { mergeIntoMember } from '../../wire/json/merge.ts'
import { isObject, tryParseJson } from '../../wire/json/parse.ts'
import { SseSplitter } from '../../wire/sse.ts'
import { renderMessagesError } from './error.ts'
import { encodeEvent, ping } from './events.ts'

/** Headers of the client that select a version and features of the API. */
const apiHeaders = ['anthropic-version', 'anthropic-beta'] as const

/** Returns what belongs to the API besides the body: two headers, and `beta=true` in the query. */
export function readApiFacts({
  headers,
  url,
}: Pick<Request, 'headers' | 'url'>): Pick<NativeCall, 'headers' | 'query'> {
  const sent = apiHeaders.flatMap((name) => {
    const value = headers.get(name)
    return value === null ? [] : [[name, value] as const]
  })
  const isBeta = /\?(?:.*&)?beta=true(?:&|#|$)/.test(url)
  return { headers: Object.fromEntries(sent), query: isBeta ? '?beta=true' : '' }
}

/**
 * Writes a stream whose frames have the bytes of this API. The last frame holds the last `message_delta` and
 * `message_stop`; an estimate of usage is written into the former.
 */
export class NativeStreamWriter implements StreamWriter {
  readonly #context: WriterContext

  constructor(context: WriterContext) {
    this.#context = context
  }

  write({ bytes }: Frame): Uint8Array {
    return bytes
  }

  ping(): Uint8Array {
    return ping
  }

  complete({ bytes }: Frame, { usage, isInBytes }: FinalUsage): Uint8Array {
    return isInBytes ? bytes : addUsage(bytes, usage)
  }

  fail(error: GatewayError): Uint8Array {
    return encodeEvent('error', renderMessagesError(error, this.#context.requestId))
  }
}

/** Adds usage to the last `message_delta` of the last events of a stream, or writes one before them. */
function addUsage(last: Uint8Array, usage: Usage): Uint8Array {
  const splitter = new SseSplitter()
  const events = [...splitter.push(last), ...splitter.end()]
  const at = events.findLastIndex(({ data }) => isMessageDelta(data))
  const { data } = events[at] ?? {}
  const written = data === undefined ? encodeUsage(usage) : mergeUsage(data, usage)
  const others = events.map(({ bytes }, index) => (index === at ? written : bytes))
  return concat(at < 0 ? [written, ...others] : others)
}

function encodeUsage(usage: Usage): Uint8Array {
  const delta = { stop_reason: null, stop_sequence: null }
  return encodeEvent('message_delta', { delta, usage: renderMessagesUsage(usage) })
}

/** Writes the counts that were estimated, and those that are missing, and keeps all other bytes. */
function mergeUsage(data: string, usage: Usage): Uint8Array {
  const members = { ...renderMessagesUsage(usage) }
  const replaced = listEstimated(usage, messagesCounts)
  const merged = mergeIntoMember(encoder.encode(data), 'usage', { members, replaced })
  return encoder.encode(`event: message_delta\ndata: ${joinLines(merged)}\n\n`)
}

/** JSON may have line breaks between its members; in an event, `data:` would begin each further line. */
function joinLines(json: Uint8Array): string {
  return decoder.decode(json).replaceAll('\n', ' ')
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

function isMessageDelta(data: string | undefined): boolean {
  const event = data === undefined ? undefined : tryParseJson(data)
  return isObject(event) && event['type'] === 'message_delta'
}
