import { UpstreamFault } from '../../core/failure.ts'
import { type JsonLimits, scanLayout } from './scan.ts'

const decoder = new TextDecoder()
const encoder = new TextEncoder()

/** Longer texts are checked before parsing, which could take seconds and all memory. */
const maxUncheckedLength = 1024 * 1024

/** No response needs more: log probabilities of 10,000 tokens with 20 alternatives are a million values. */
export const answerLimits: JsonLimits = { maxDepth: 128, maxValues: 1_000_000 }

/** An event of a stream is translated at once. Most have some tens of values. */
export const eventLimits: JsonLimits = { maxDepth: 128, maxValues: 50_000 }

/** An event whose bytes pass unchanged is parsed at once, too. It may hold a whole answer. */
export const passedEventLimits: JsonLimits = { maxDepth: 128, maxValues: 400_000 }

/** Shorter events have fewer values than may be. */
const maxUncheckedEvent = 64 * 1024

/** Parses an event as `tryParseJson` does. It may have fewer values than an answer, which is parsed in steps. */
export function tryParseEvent(source: string, limits: JsonLimits): unknown {
  checkEvent(source, limits)
  return parseJson(source)
}

/** Throws a `malformed` fault for an event that is nested too deeply or has too many values. */
export function checkEvent(source: string, limits: JsonLimits): void {
  if (source.length > maxUncheckedEvent) checkLimits(source, limits)
}

/**
 * Parses a JSON text; returns undefined when it is not JSON. Throws a `malformed` fault for a long text
 * that is nested too deeply or has too many values.
 */
export function tryParseJson(source: string | Uint8Array): unknown {
  if (source.length > maxUncheckedLength) checkLimits(source, answerLimits)
  return parseJson(typeof source === 'string' ? source : decoder.decode(source))
}

/** Parses a JSON text that is short, or whose limits have been checked; undefined when it is not JSON. */
export function parseJson(source: string): unknown {
  try {
    return JSON.parse(source)
  } catch {
    return undefined
  }
}

function checkLimits(source: string | Uint8Array, limits: JsonLimits): void {
  const bytes = typeof source === 'string' ? encoder.encode(source) : source
  const { depth, values } = scanLayout(bytes, [], { limits })
  if (depth > limits.maxDepth) throw malformedJson('its JSON is nested too deeply')
  if (values > limits.maxValues) throw malformedJson('its JSON has too many values')
}

/** The fault of an upstream whose JSON the gateway does not read. */
export function malformedJson(detail: string): UpstreamFault {
  return new UpstreamFault({ kind: 'malformed', detail })
}

/** True for a value that is present and not null. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** The members of a JSON object, by their names. */
export type JsonObject = Readonly<Record<string, unknown>>

/** True for a JSON object: neither an array nor null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
