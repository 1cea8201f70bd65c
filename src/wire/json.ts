import { UpstreamFault } from '../core/failure.ts'
import { type JsonLimits, scanLayout } from './json-scan.ts'

const decoder = new TextDecoder()
const encoder = new TextEncoder()

/** A longer text is judged before it is parsed, which can take seconds and all memory. */
const maxUncheckedLength = 1024 * 1024

/** No answer needs more: log probabilities of 10,000 tokens with 20 alternatives each are a million. */
const limits: JsonLimits = { maxDepth: 128, maxValues: 1_000_000 }

/**
 * The value of a JSON text; undefined, which no JSON text means, when it is none. Throws a malformed
 * answer for a long text that is nested too deeply, or holds too much.
 */
export function tryParseJson(source: string | Uint8Array): unknown {
  if (source.length > maxUncheckedLength) checkLimits(source)
  try {
    return JSON.parse(typeof source === 'string' ? source : decoder.decode(source))
  } catch {
    return undefined
  }
}

function checkLimits(source: string | Uint8Array): void {
  const bytes = typeof source === 'string' ? encoder.encode(source) : source
  const { depth, values } = scanLayout(bytes, [], { limits })
  if (depth > limits.maxDepth) throw malformed('its JSON is nested too deeply')
  if (values > limits.maxValues) throw malformed('its JSON holds too many values')
}

function malformed(detail: string): UpstreamFault {
  return new UpstreamFault({ kind: 'malformed', detail })
}

/** True for a JSON object: neither an array nor null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
