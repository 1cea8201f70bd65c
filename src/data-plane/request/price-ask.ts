import type { UsageEstimate } from '../../core/admission.ts'
import { readGeo, readTier } from '../../core/billing.ts'
import type { Api } from '../../core/capability.ts'
import type { Millis } from '../../core/ids.ts'
import type { ByteSpan } from '../../core/layout.ts'
import { anyModalities, type PriceAsk } from '../../core/price-table.ts'
import { hasModalityPrice } from '../../core/prices.ts'
import type { Model } from '../../core/provider.ts'
import type { ModelRoute } from '../../core/route.ts'
import { runAtOnce, type Steps } from '../../core/steps.ts'
import { isObject, isSet, tryParseJson } from '../../wire/json/parse.ts'
import { scanLayout } from '../../wire/json/scan.ts'
import { findInputModalities, readOutputModalities } from './asked-modalities.ts'
import { listAskedTools } from './asked-tools.ts'
import { type DefinedTool, listDefinedTools } from './defined-tools.ts'

/** A request, as far as the most that it may use is estimated from it. */
export interface EstimatedRequest {
  readonly route: ModelRoute
  /** The body; absent where the prices of the API do not depend on it. */
  readonly bytes?: Uint8Array
  /** Lists the fields that a link leaves out; throws `UntranslatableError` when it cannot send the request. */
  listDropped?(link: Model): readonly string[]
  /** Does the long part of `estimate` and of `listDropped` for all links, in steps; undefined where it is short. */
  prepareEstimate(): Promise<void> | undefined
  estimate(): UsageEstimate
}

/** The members of a request that its price depends on, in every API. */
const names = [
  'service_tier',
  'serviceTier',
  'speed',
  'inference_geo',
  'extra_body',
  'previous_response_id',
  'conversation',
  'prompt',
  'cached_content',
  'cachedContent',
  'google',
  'tools',
  'messages',
  'input',
  'web_search_options',
  'search_parameters',
  'plugins',
  'max_tool_calls',
  'modalities',
] as const

export interface AskOptions {
  readonly api: Api
  /** When the request arrived, on the wall clock. */
  readonly at: Millis
  /** Everything is read, although no price depends on it: the request is refused where a price is missing. */
  readonly needsAll: boolean
}

/**
 * Reads what a request asks for of the things that the prices of a route depend on. Undefined where none does:
 * then the body is not read. `body` is absent where the API has no such members.
 */
export function readPriceAsk(
  route: ModelRoute,
  body: Uint8Array | undefined,
  options: AskOptions,
): PriceAsk | undefined {
  return runAtOnce(readPriceAskInSteps(route, body, options))
}

/** Does the same in steps, for a long body. */
export function* readPriceAskInSteps(
  { chain }: ModelRoute,
  body: Uint8Array | undefined,
  { api, at, needsAll }: AskOptions,
): Steps<PriceAsk | undefined> {
  if (!needsAll && !chain.some(dependsOnAsk)) return undefined
  if (!body) {
    return { ...nothingAsked, at }
  }
  const { spans } = scanLayout(body, names)
  yield
  // Of a repeated member the last one counts, as vendors read it.
  const read = (span: ByteSpan | undefined) =>
    span && tryParseJson(decoder.decode(body.subarray(span.start, span.end)))
  const extra = read(spans.extra_body.at(-1))
  const asked = (name: 'service_tier' | 'speed' | 'inference_geo') =>
    read(spans[name].at(-1)) ?? (isObject(extra) ? extra[name] : undefined)
  // No other API has this spelling: a vendor would overlook it, and serve another tier.
  const geminiTier = api === 'gemini' ? read(spans.serviceTier.at(-1)) : undefined
  const modalities = chain.some(dependsOnModality)
    ? {
        input: findInputModalities(body),
        output: readOutputModalities(read(spans.modalities.at(-1)), extra),
      }
    : anyModalities
  yield
  const needsTools = needsAll || chain.some(({ toolReserve }) => toolReserve !== undefined)
  const tools = needsTools ? readTools() : noTools
  yield
  return {
    tier: asked('speed') === 'fast' ? 'fast' : readTier(geminiTier ?? asked('service_tier')),
    geo: readGeo(asked('inference_geo')),
    at,
    hasStoredPrompt:
      isSet(read(spans.previous_response_id.at(-1))) ||
      isSet(read(spans.conversation.at(-1))) ||
      isStoredPrompt(body, spans.prompt.at(-1)) ||
      isSet(read(spans.cached_content.at(-1))) ||
      isSet(read(spans.cachedContent.at(-1))) ||
      holdsCachedContent(read(spans.google.at(-1))) ||
      holdsCachedContent(extra) ||
      (isObject(extra) && holdsCachedContent(extra['google'])),
    mayCacheLong: mayCacheLong(body),
    modalities,
    ...tools,
  }

  function readTools(): AskedAboutTools {
    const more: Readonly<Record<string, unknown>> = isObject(extra) ? extra : {}
    return listAskedTools({
      tools: spans.tools.map(read).filter(isSet),
      definedTools: readDefinedTools(),
      extraTools: more['tools'],
      searching: [
        ...searches.filter((name) => spans[name].some((span) => isSet(read(span)))),
        ...searches.filter((name) => isSet(more[name])).map((name) => `extra_body.${name}`),
      ],
      hasStoredTools: isStoredPrompt(body as Uint8Array, spans.prompt.at(-1)),
      mayHaveFiles:
        includes(body as Uint8Array, fileWord) || includes(body as Uint8Array, asciiEscape),
      maxToolCalls: read(spans.max_tool_calls.at(-1)),
    })
  }

  /** The conversation may be long, so it is parsed only where it may define tools. */
  function readDefinedTools(): readonly DefinedTool[] {
    const bytes = body as Uint8Array
    return (['messages', 'input'] as const).flatMap((name) =>
      spans[name].flatMap((span) => {
        const given = bytes.subarray(span.start, span.end)
        const mayDefine = definitionWords.some((word) => includes(given, word))
        return mayDefine ? listDefinedTools(read(span), name) : []
      }),
    )
  }
}

/** Where chat completions may have the fields of Google. */
function holdsCachedContent(holder: unknown): boolean {
  return isObject(holder) && isSet(holder['cached_content'])
}

const searches = ['web_search_options', 'search_parameters', 'plugins'] as const

type AskedAboutTools = Pick<PriceAsk, 'tools' | 'toolPaths'>

const noTools: AskedAboutTools = Object.freeze({ tools: new Map() })

const nothingAsked: Omit<PriceAsk, 'at'> = Object.freeze({
  tier: undefined,
  geo: undefined,
  hasStoredPrompt: false,
  mayCacheLong: false,
  modalities: anyModalities,
  ...noTools,
})

/** In text completions the member is the prompt itself, which may be long: a text or a list. */
function isStoredPrompt(body: Uint8Array, span: ByteSpan | undefined): boolean {
  return span !== undefined && body[span.start] === openBrace
}

const openBrace = 0x7b

function dependsOnAsk({ priceTable, maxInputTokens, toolReserve, prices }: Model): boolean {
  return (
    priceTable !== undefined ||
    maxInputTokens !== undefined ||
    toolReserve !== undefined ||
    prices.cacheWrite12h !== undefined ||
    hasModalityPrice(prices)
  )
}

function dependsOnModality({ priceTable, prices }: Model): boolean {
  return priceTable?.hasModalities ?? hasModalityPrice(prices)
}

/**
 * True when the body may ask OpenAI to keep the prompt for twelve hours: in `prompt_cache_options`, or in the `ttl` of
 * a breakpoint at any depth. Text that looks the same, and any escape of ASCII, counts too: it can only be reserved
 * for too much. https://platform.openai.com/docs/guides/prompt-caching
 */
function mayCacheLong(body: Uint8Array): boolean {
  return includes(body, longLife) || includes(body, asciiEscape)
}

const longLife = new TextEncoder().encode('12h"')
/** The members that define tools inside a conversation. Any escape of ASCII may be one of them. */
const definitionWords = ['"definition"', '"tools"', '\\u00'].map((word) =>
  new TextEncoder().encode(word),
)
const fileWord = new TextEncoder().encode('file')
const asciiEscape = new TextEncoder().encode('\\u00')

function includes(body: Uint8Array, sought: Uint8Array): boolean {
  const [first = 0] = sought
  for (let at = body.indexOf(first); at >= 0; at = body.indexOf(first, at + 1)) {
    if (sought.every((byte, offset) => body[at + offset] === byte)) return true
  }
  return false
}

const decoder = new TextDecoder()
