import type { Capability } from '../../core/capability.ts'
import { GatewayError } from '../../core/errors.ts'
import type { PriceAsk } from '../../core/price-table.ts'
import type { Model } from '../../core/provider.ts'
import { listNamed, type ModelRoute } from '../../core/route.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'

/** A request, as far as it decides whether its cost is known. */
export interface PricedRequest {
  readonly route: ModelRoute
  readonly capability: Capability
  /** What the request asks for; undefined where no link needs it. */
  readonly ask: PriceAsk | undefined
  /** Lists the fields that a link leaves out; throws `UntranslatableError` when it cannot send the request. */
  listDropped?(link: Model): readonly string[]
}

/** The links on which the cost of a request is not known, each with the error that says why. */
export type UnpricedLinks = ReadonlyMap<Model, GatewayError>

/** Finds the links on which the cost of a request is not known. */
export function findUnpriced(request: PricedRequest): UnpricedLinks {
  let found: Map<Model, GatewayError> | undefined
  for (const [link, missing] of findUnpricedLinks(request)) {
    ;(found ??= new Map()).set(link, unpriced(link, missing))
  }
  return found ?? noUnpriced
}

/** Finds what the links lack on which the cost of a request is not known. */
export function findUnpricedLinks(request: PricedRequest): ReadonlyMap<Model, MissingPrice> {
  let found: Map<Model, MissingPrice> | undefined
  for (const link of request.route.chain) {
    const missing = findMissing(link, request)
    if (missing) (found ??= new Map()).set(link, missing)
  }
  return found ?? noMissing
}

const noMissing: ReadonlyMap<Model, MissingPrice> = new Map()

export const noUnpriced: UnpricedLinks = new Map()

/**
 * Returns the route without the links on which the cost is not known; LM-4007 when the model that it names, or
 * every target, is one of them.
 */
export function leaveOut(route: ModelRoute, unpricedLinks: UnpricedLinks): ModelRoute {
  if (unpricedLinks.size === 0) return route
  const isKnown = (link: Model) => !unpricedLinks.has(link)
  const named = listNamed(route)
  const refusal = named[0] && unpricedLinks.get(named[0])
  const [first, ...others] = route.chain.filter(isKnown)
  if (refusal && !(named.some(isKnown) && first)) throw refusal
  const { balance } = route
  return {
    ...route,
    // A link of the route is left, or the request is refused.
    chain: [first as Model, ...others],
    balance: balance && {
      strategy: balance.strategy,
      targets: balance.targets.filter(({ model }) => isKnown(model)),
      fallbacks: balance.fallbacks.filter(isKnown),
    },
  }
}

/** A price that is not known, and the setting that it is missing in. */
export interface MissingPrice {
  readonly what: string
  readonly setting: string
}

function findMissing(link: Model, request: PricedRequest): MissingPrice | undefined {
  const setting = link.missingPrices[request.capability]
  if (setting !== undefined) return { what: nameOfPrice[setting] ?? 'price', setting }
  const { ask } = request
  if (!ask) return undefined
  if (ask.tier !== undefined && link.priceTable?.hasTier(ask.tier) === false) {
    return { what: `price for the tier ${ask.tier}`, setting: `prices with tier = "${ask.tier}"` }
  }
  if (ask.hasStoredPrompt && link.maxInputTokens === undefined) {
    return { what: 'bound for a prompt that the vendor has stored', setting: 'max_input_tokens' }
  }
  return findMissingFee(link, ask, request)
}

const nameOfPrice: Readonly<Record<string, string>> = {
  cost_per_1m_input: 'price for input',
  cost_per_1m_output: 'price for output',
  cost_per_1k_searches: 'price for searches',
}

/** A tool that the link leaves out cannot run there. */
function findMissingFee(
  link: Model,
  { toolPaths }: PriceAsk,
  request: PricedRequest,
): MissingPrice | undefined {
  if (!toolPaths) return undefined
  const { pricedTools } = link
  let dropped: ReadonlySet<string> | undefined
  const areDropped = (paths: readonly string[]) => {
    if (paths.length === 0) return true
    dropped ??= new Set(listDropped(link, request))
    return paths.every((path) => dropped?.has(path))
  }
  for (const [tool, paths] of toolPaths.named) {
    if (pricedTools.has(tool) || areDropped(paths)) continue
    return { what: `price for the tool ${tool}`, setting: `tool_costs_per_1k.${tool}` }
  }
  if (pricedTools.size > 0 || areDropped(toolPaths.unnamed)) return undefined
  return { what: 'price for the tools of its vendor', setting: 'tool_costs_per_1k' }
}

function listDropped(link: Model, request: PricedRequest): readonly string[] {
  try {
    return request.listDropped?.(link) ?? []
  } catch (error) {
    // The link is skipped, whatever it costs.
    if (error instanceof UntranslatableError) return []
    throw error
  }
}

function unpriced({ id }: Model, { what, setting }: MissingPrice): GatewayError {
  const message =
    `model ${id} has no ${what}, and auth.unpriced refuses requests whose cost is not known: ` +
    `${setting} is missing in its configuration`
  return new GatewayError('LM-4007', message, { fields: { model: id, setting } })
}
