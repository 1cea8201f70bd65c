import * as z from 'zod'
import { capabilities, modalities } from '../core/capability.ts'
import { decisionForms } from '../core/decisions.ts'
import { fallbackCauses } from '../core/fallback.ts'
import { costMethods, costUnits } from '../core/price-settings.ts'
import { originPath } from './addresses.ts'
import { bodySchema } from './body-schema.ts'
import { type PriceEntry, priceEntry, toolCosts } from './price-schema.ts'
import { profileSetting } from './profile-schema.ts'
import {
  delay,
  distinct,
  distinctNonEmpty,
  fieldPath,
  modelId,
  parallelCalls,
  price,
  queueLength,
  setting,
  text,
  wholeNumber,
} from './rules.ts'

/** One entry of `[[providers.models]]`. */
export const modelSchema = setting(
  'The models of the `[[providers]]` entry above.',
  z.strictObject({
    id: setting(
      'What clients write in `model`. 1 to 256 printable Latin-1 characters, with no space at ' +
        'either end. Must be unique in the file. A `*` at its end makes it a ' +
        '[pattern](models.md), which serves every id that begins like it.',
      modelId,
    ),
    upstream_id: setting(
      "The provider's name of the model; `id` if absent. For a pattern, one `*` in it becomes the " +
        'part of the id that the `*` of the pattern stands for; `"*"` if absent.',
      text.optional(),
    ),
    capabilities: setting(
      'One or more of `chat`, `embed`, `rerank`, `decisions`. The kind must support each of them.',
      distinctNonEmpty(z.enum(capabilities)).default(['chat']),
    ),
    modalities: setting(
      'One or more of `text`, `image`. `image` allows image input.',
      distinctNonEmpty(z.enum(modalities)).default(['text']),
    ),
    reasoning: setting(
      'Whether the model accepts `reasoning_effort`. For providers that speak the OpenAI ' +
        'format, and for `cohere`: requests of [other APIs](vendor-apis.md) that ask for reasoning then ' +
        'carry it.',
      z.boolean().default(false),
    ),
    profile: setting(
      'The same for one model, on top of that of the provider.',
      profileSetting.optional(),
    ),
    cache_marks: setting(
      'For models of Claude, of kind `anthropic` or `bedrock`. `"auto"` [marks the ' +
        'prompt](prices.md#marks-of-the-gateway) for the cache of the vendor where a request has no ' +
        'mark.',
      z.literal('auto', { error: 'must be "auto"' }).optional(),
    ),
    cache: setting(
      'Whether answers may come from the [cache](cache.md); requires `cache.enabled`.',
      z.boolean().default(false),
    ),
    max_output_tokens: setting(
      '1 to 1000000000. The maximum number of output tokens. Limits the [reserved ' +
        'budget](keys.md#budgets) of a request that sets no limit itself. Kinds that do not speak ' +
        "the OpenAI format lower a client's limit to it, and fill it in when the vendor requires " +
        'a limit.',
      wholeNumber(1, 1_000_000_000).optional(),
    ),
    input_type: setting(
      'For `embed`: what texts are [embedded for](embeddings.md#retrieval-intent) where a ' +
        'request does not say it.',
      text.optional(),
    ),
    max_batch_size: setting(
      '1 to 16384. For `embed`: the number of items in one upstream call, in place of the ' +
        "kind's own; kinds of one item per call keep to it.",
      wholeNumber(1, 16_384).optional(),
    ),
    decisions: setting(
      'For `decisions`: the [form](decisions-api.md#forms) that the upstream takes, `openai` or `typesafe`. ' +
        'If absent, that of the kind.',
      z.enum(decisionForms).optional(),
    ),
    decisions_path: setting(
      'For `decisions`: the path of the upstream for them, at the origin of `base_url`, such as ' +
        '`/v1/systemone`. If absent, that of the kind.',
      originPath.optional(),
    ),
    cost_per_1m_input: setting(
      'The price of a million input tokens, 0 to 1000000.',
      price.optional(),
    ),
    cost_per_1m_output: setting(
      'The price of a million output tokens, 0 to 1000000. A model whose only capability is `decisions` needs none: ' +
        'its output then costs nothing.',
      price.optional(),
    ),
    cost_per_1m_reasoning: setting(
      'The price of a million output tokens that are reasoning, 0 to 1000000. If absent, the ' +
        'output price applies.',
      price.optional(),
    ),
    cost_per_1m_cached_input: setting(
      'The price of a million input tokens read from a cache, 0 to 1000000. If absent, the ' +
        'input price applies.',
      price.optional(),
    ),
    cost_per_1m_cache_write: setting(
      'The price of a million input tokens written to a cache, 0 to 1000000. If absent, the ' +
        'input price applies. Requests whose prompt may be written [reserve](keys.md#budgets) it.',
      price.optional(),
    ),
    cost_per_1m_cache_write_1h: setting(
      'The same for tokens that Claude caches for an hour, 0 to 1000000. If absent, ' +
        '`cost_per_1m_cache_write` applies.',
      price.optional(),
    ),
    cost_per_1m_cache_write_12h: setting(
      'The same for tokens that OpenAI caches for twelve hours, 0 to 1000000. If absent, ' +
        '`cost_per_1m_cache_write` applies.',
      price.optional(),
    ),
    cost_per_1m_audio_input: setting(
      'The price of a million input tokens of audio, 0 to 1000000. If absent, the input price ' +
        'applies. Requests with audio [reserve](prices.md#audio-images-and-video) it.',
      price.optional(),
    ),
    cost_per_1m_image_input: setting('The same for images.', price.optional()),
    cost_per_1m_video_input: setting('The same for video.', price.optional()),
    cost_per_1m_cached_audio_input: setting(
      'The price of a million input tokens of audio read from a cache, 0 to 1000000. If absent, ' +
        'the price of cached input applies.',
      price.optional(),
    ),
    cost_per_1m_audio_output: setting(
      'The price of a million output tokens of audio, 0 to 1000000. If absent, the output price ' +
        'applies.',
      price.optional(),
    ),
    cost_per_1m_image_output: setting('The same for images.', price.optional()),
    cost_per_1k_searches: setting(
      'The price of a thousand search units of rerank, 0 to 1000000.',
      price.optional(),
    ),
    cost_per_1k_web_searches: setting(
      'The price of a thousand web searches that the vendor runs for chat answers, 0 to ' +
        '1000000. Claude, the Responses API, xAI and Gemini say how many there were (Gemini ' +
        'before 3: one a prompt). Another name of `tool_costs_per_1k.web_search`: only one of the ' +
        'two may be set.',
      price.optional(),
    ),
    cost_per_1k_requests: setting(
      'A fee for a thousand answered requests, 0 to 1000000.',
      price.optional(),
    ),
    tool_costs_per_1k: setting(
      'The prices of a thousand calls of the [tools](prices.md#tools) that the vendor runs, in US ' +
        'dollars; see below. A tool without a price costs nothing.',
      toolCosts.optional(),
    ),
    reserve_tool_calls: setting(
      '0 to 1000; 4 where it is not set. The calls that are reserved for each tool of the vendor which a request ' +
        'allows and does not bound. Where it is set, also for each tool with a price for a conversation or content that ' +
        'the vendor has stored, which may have tools of its own.',
      wholeNumber(0, 1000).optional(),
    ),
    reserve_tool_tokens: setting(
      '0 to 1000000. The prompt tokens that are reserved for the result of each of these calls.',
      wholeNumber(0, 1_000_000).default(0),
    ),
    prices: setting(
      'Prices under conditions, at most 100; see below. Or `"table"`: the [table of ' +
        'prices](prices.md#the-table-in-place-of-prices) that comes with the gateway fills what the ' +
        'entry leaves out.',
      z
        .union([z.literal('table'), z.array(priceEntry).max(100)], {
          error: 'must be entries of prices, or "table"',
        })
        .default([]),
    ),
    cost: setting('As on the provider.', z.enum(costMethods).optional()),
    cost_field: setting('As on the provider.', fieldPath.optional()),
    cost_unit: setting('As on the provider.', z.enum(costUnits).optional()),
    max_input_tokens: setting(
      '1 to 1000000000. The longest prompt of the model, which is ' +
        '[reserved](prices.md#what-is-reserved) for a request whose prompt the vendor has stored.',
      wholeNumber(1, 1_000_000_000).optional(),
    ),
    context_window: setting(
      '1 to 1000000000. The tokens of a prompt and its output together. A link of a chain that is ' +
        'too small for a request is [passed over](resilience.md#windows-and-filters) when a later ' +
        'one is large enough.',
      wholeNumber(1, 1_000_000_000).optional(),
    ),
    max_parallel: setting(
      '1 to 1000000. [Calls at once](resilience.md#room-at-the-upstream) to the model; no limit if absent. That of ' +
        'the provider holds too.',
      parallelCalls.optional(),
    ),
    queue_max: setting(
      '0 to 1000000. How many more requests wait for one of these calls to end.',
      queueLength.default(0),
    ),
    queue_ms: setting('How long they wait at most, in milliseconds.', delay.default(0)),
    fallbacks: setting(
      'Ids of other models to try when this one fails, in this order.',
      distinct(z.string()).default([]),
    ),
    early_heartbeat_ms: setting('0 or more. Replaces that of the provider.', delay.optional()),
    fallback_on: setting(
      'One or both of `context_length`, `content_filter`: [refusals of a ' +
        'request](resilience.md#windows-and-filters) after which the next link is tried.',
      distinct(z.enum(fallbackCauses)).default([]),
    ),
    body: bodySchema.optional(),
  }),
)

type ParsedModel = z.infer<typeof modelSchema>

/** An entry of a model, with the prices of the table where it takes them. */
export type ModelConfig = Omit<ParsedModel, 'prices'> & {
  prices: PriceEntry[]
  /** What it leaves out comes from the table of prices. */
  usesTable?: true
  /** Fills the prices of a model that the pattern serves; absent where it does not use the table. */
  fillPrices?: (model: ModelConfig) => ModelConfig
}
