import type { ByteSpan } from '../core/layout.ts'
import { isObject, tryParseJson } from '../wire/json/parse.ts'
import { findValueEnd, readItems } from '../wire/json/text.ts'

/** Reads a member that is a text; undefined for any other value. Of a repeated member the last one counts. */
export function readTextMember(bytes: Uint8Array, spans: readonly ByteSpan[]): string | undefined {
  const value = readMember(bytes, spans)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Reads a short member. */
export function readMember(bytes: Uint8Array, spans: readonly ByteSpan[]): unknown {
  const span = spans.at(-1)
  return span && tryParseJson(decode(bytes, span))
}

/** Where the beginning of a prompt is in a body. */
export interface PrefixPlaces {
  /** The text of the system; absent where it is among the messages. */
  readonly system?: readonly ByteSpan[]
  readonly tools: readonly ByteSpan[]
  readonly messages: readonly ByteSpan[]
}

/** A shorter prompt is not worth keeping: vendors cache prompts from 1,024 tokens. */
const minPrefixBytes = 4096

/** So much of each part counts. Prompts that differ only behind it are kept together. */
const maxPartLength = 64 * 1024

/**
 * Returns the beginning of a prompt: the text of the system, the tools and the messages up to the first one of the
 * user, without the marks of caches, which move from turn to turn. Undefined where it is short.
 */
export function readPrefix(
  bytes: Uint8Array,
  { system = [], tools, messages }: PrefixPlaces,
): string | undefined {
  const parts = [
    readPart(bytes, system),
    readPart(bytes, tools),
    ...takeFirstMessages(cut(bytes, messages)),
  ]
  const prefix = parts.join('\n')
  return encoder.encode(prefix).length > minPrefixBytes ? prefix : undefined
}

function readPart(bytes: Uint8Array, spans: readonly ByteSpan[]): string {
  return normalize(cut(bytes, spans))
}

/** Decodes what counts of a member, with room for what is left out of it. */
function cut(bytes: Uint8Array, spans: readonly ByteSpan[]): string {
  const span = spans.at(-1)
  if (!span) return ''
  const { start, end } = span
  return decode(bytes, { start, end: Math.min(end, start + 4 * maxPartLength) })
}

/** Input of the Responses API may be a text. */
function takeFirstMessages(json: string): string[] {
  if (!json.startsWith('[')) return [normalize(json)]
  const taken: string[] = []
  readItems(json, 0, (at) => {
    const end = findValueEnd(json, at)
    const text = json.slice(at, end)
    taken.push(normalize(text))
    return isOfUser(text) ? json.length : end
  })
  return taken
}

/** A message that was cut is long, so it is the first one that counts. */
function isOfUser(json: string): boolean {
  const message = tryParseJson(json)
  return !isObject(message) || message['role'] === 'user'
}

function normalize(json: string): string {
  const value = tryParseJson(json)
  const text = value === undefined ? json : JSON.stringify(value, dropMark)
  return text.slice(0, maxPartLength)
}

function dropMark(name: string, value: unknown): unknown {
  return name === 'cache_control' ? undefined : value
}

function decode(bytes: Uint8Array, { start, end }: ByteSpan): string {
  return decoder.decode(bytes.subarray(start, end))
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
