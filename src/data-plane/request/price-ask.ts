import type { UsageEstimate } from '../../core/admission.ts'
import { readGeo, readTier } from '../../core/billing.ts'
import type { Millis } from '../../core/ids.ts'
import type { Span } from '../../core/layout.ts'
import type { PriceAsk } from '../../core/price-table.ts'
import type { ModelRoute } from '../../core/route.ts'
import { isObject, tryParseJson } from '../../wire/json.ts'
import { scanLayout } from '../../wire/json-scan.ts'

/** A request, as far as the most that it may use is estimated from it. */
export interface EstimatedRequest {
  readonly route: ModelRoute
  /** The body; absent where the prices of the API do not depend on it. */
  readonly bytes?: Uint8Array
  estimate(): UsageEstimate
}

/** The members of a request that its price depends on, in every API. */
const names = [
  'service_tier',
  'speed',
  'inference_geo',
  'extra_body',
  'previous_response_id',
  'conversation',
  'prompt',
  'cached_content',
] as const

/**
 * Reads what a request asks for of the things that the prices of a route depend on. Undefined where none does:
 * then the body is not read. `body` is absent where the API has no such members.
 */
export function readPriceAsk(
  { chain }: ModelRoute,
  body: Uint8Array | undefined,
  at: Millis,
): PriceAsk | undefined {
  if (!chain.some((link) => link.priceTable || link.maxInputTokens !== undefined)) return undefined
  if (!body) return { tier: undefined, geo: undefined, at, hasStoredPrompt: false }
  const { spans } = scanLayout(body, names)
  const read = (span: Span | undefined) =>
    span && tryParseJson(decoder.decode(body.subarray(span.start, span.end)))
  const extra = read(spans.extra_body[0])
  const asked = (name: 'service_tier' | 'speed' | 'inference_geo') =>
    read(spans[name][0]) ?? (isObject(extra) ? extra[name] : undefined)
  return {
    tier: asked('speed') === 'fast' ? 'fast' : readTier(asked('service_tier')),
    geo: readGeo(asked('inference_geo')),
    at,
    hasStoredPrompt:
      isSet(read(spans.previous_response_id[0])) ||
      isSet(read(spans.conversation[0])) ||
      // In text completions this is the prompt itself.
      isObject(read(spans.prompt[0])) ||
      isSet(read(spans.cached_content[0])),
  }
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}

const decoder = new TextDecoder()
