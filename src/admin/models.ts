import type { NanoUsd } from '../core/ids.ts'
import { isPattern } from '../core/model-pattern.ts'
import { toUsd } from '../core/money.ts'
import type { Prices } from '../core/prices.ts'
import type { Model } from '../core/provider.ts'
import { jsonReply } from '../core/reply.ts'
import type { ListedModel, OfferedRoute } from '../core/route.ts'
import type { AdminRoutes } from './input.ts'

export interface ModelRouteDeps {
  /** Every model of the configuration in force, in its order; the patterns, too. */
  readonly models: () => readonly Model[]
  /** The models without the patterns, and the routes. */
  readonly offered: () => readonly OfferedRoute[]
  /** Those, and the models that vendors list and patterns serve. */
  readonly listed: () => readonly ListedModel[]
}

/** The read-only route of the models of the configuration. */
export function modelRoutes({ models, offered, listed }: ModelRouteDeps): AdminRoutes {
  const list = () => {
    const byId = new Map<string, OfferedRoute>(offered().map((route) => [route.id, route]))
    return jsonReply({
      models: models().map((model) => renderModel(model, byId.get(model.id))),
      discovered: listed()
        .filter(({ id }) => !byId.has(id))
        .map(renderDiscovered),
    })
  }
  return { '/admin/models': { GET: list } }
}

function renderDiscovered({ id, provider, capabilities }: ListedModel): object {
  return { id, provider: provider?.name ?? null, capabilities }
}

function renderModel(model: Model, route: OfferedRoute | undefined): object {
  const { id, provider } = model
  return {
    id,
    provider: provider.name,
    kind: provider.kind.name,
    upstream_id: model.upstreamId,
    is_pattern: isPattern(id),
    capabilities: model.capabilities,
    modalities: model.modalities,
    context_window: model.contextWindow ?? null,
    max_input_tokens: model.maxInputTokens ?? null,
    max_output_tokens: model.maxOutputTokens ?? null,
    // The chain of a pattern is made for each id that it serves.
    fallbacks: route && !route.cases ? route.chain.slice(1).map((link) => link.id) : null,
    prices: model.hasPrice ? renderPrices(model.prices) : null,
    prices_vary: model.priceTable !== undefined,
    cost_reported: model.isCostReported,
    missing_prices: [...new Set(Object.values(model.missingPrices))],
    created: model.created,
  }
}

/** The prices that are set, as US dollars for what the end of each name says. */
function renderPrices(prices: Prices): Readonly<Record<string, number>> {
  const named: readonly (readonly [string, NanoUsd | undefined])[] = [
    ['input_per_1m', prices.input],
    ['output_per_1m', prices.output],
    ['reasoning_per_1m', prices.reasoning],
    ['cached_input_per_1m', prices.cachedInput],
    ['cache_write_per_1m', prices.cacheWrite],
    ['cache_write_1h_per_1m', prices.cacheWrite1h],
    ['cache_write_12h_per_1m', prices.cacheWrite12h],
    ['audio_input_per_1m', prices.audioInput],
    ['image_input_per_1m', prices.imageInput],
    ['video_input_per_1m', prices.videoInput],
    ['cached_audio_input_per_1m', prices.cachedAudioInput],
    ['audio_output_per_1m', prices.audioOutput],
    ['image_output_per_1m', prices.imageOutput],
    ['searches_per_1k', prices.searches],
    ['requests_per_1k', prices.requests],
    ...Object.entries(prices.tools ?? {}).map(
      ([tool, price]) => [`${tool}_per_1k`, price] as const,
    ),
  ]
  return Object.fromEntries(
    named.flatMap(([name, price]) => (price === undefined ? [] : [[name, toUsd(price)]])),
  )
}
