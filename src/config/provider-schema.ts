import * as z from 'zod'
import { capabilities, modalities } from '../core/capability.ts'
import { clouds } from '../core/cloud-credential.ts'
import { decisionForms } from '../core/decisions.ts'
import { fallbackCauses } from '../core/fallback.ts'
import { maxTimerDelay } from '../core/ids.ts'
import { costMethods, costUnits } from '../core/price-settings.ts'
import { baseUrl, originPath, proxyAddress, webAddress } from './addresses.ts'
import { bodySchema } from './body-schema.ts'
import { type PriceEntry, priceEntry, toolCosts } from './price-schema.ts'
import { profileSetting } from './profile-schema.ts'
import {
  affinity,
  affinityTtl,
  amount,
  delay,
  distinct,
  distinctNonEmpty,
  duration,
  fieldPath,
  headerText,
  modelId,
  parallelCalls,
  price,
  priceFactor,
  queueLength,
  setting,
  text,
  tierName,
  variableName,
  wholeNumber,
  word,
} from './rules.ts'

const modelSchema = setting(
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
        'format, and for `cohere`: requests of [other APIs](api.md) that ask for reasoning then ' +
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

/** One entry of `[[providers]]`. The rules of each kind are in `check-kinds.ts`. */
export const providerSchema = setting(
  'One entry for each upstream; each starts with `[[providers]]`.',
  z.strictObject({
    name: setting(
      '1 to 256 printable Latin-1 characters, with no space at either end. Must be unique.',
      headerText,
    ),
    kind: setting('One of the [provider kinds](#provider-kinds).', z.string()),
    api_key_env: setting(
      'The name of the environment variable that holds the key, without `$`: letters, digits, ' +
        '`_`, `-` and `.`, not starting with a digit. The gateway trims white space around the ' +
        'key, such as the line end of a secret file.',
      variableName.optional(),
    ),
    api_key_envs: setting(
      'The names of further variables that hold keys, as for `api_key_env`, which may be ' +
        'absent. Requests carry the [keys in turn](resilience.md#several-keys-for-one-provider).',
      distinctNonEmpty(variableName).optional(),
    ),
    credentials: setting(
      '`"aws"` for kind `bedrock`, `"google"` for `vertex_ai`, `"azure"` for `azure`: requests ' +
        'carry the credential that [AWS](providers/bedrock.md#credentials-from-aws), ' +
        '[Google](providers/vertex_ai.md#credentials-from-google) or ' +
        '[Azure](providers/openai-compatible.md#credentials-from-azure) provides to the machine, ' +
        'the container or the user. Cannot be combined with `api_key_env`, `api_key_envs` and ' +
        '`messages_url`; a key stored through the admin API is not used.',
      z.enum(clouds).optional(),
    ),
    aws_profile: setting(
      'With `credentials = "aws"` only. The profile of the shared AWS files to use, and no ' +
        'other source.',
      text.optional(),
    ),
    base_url: setting(
      'An http or https URL without user name and password. Required for kinds without a ' +
        'default address. For `bedrock` and `vertex_ai` it may be a region, such as `us-east-1`.',
      baseUrl.optional(),
    ),
    messages_url: setting(
      "The full address of the vendor's own [Messages API](api.md#messages), for example " +
        '`https://api.deepseek.com/anthropic/v1/messages`. Requests of that API then pass there ' +
        'unchanged, with the credential as `x-api-key`; tokens are counted at ' +
        '`{messages_url}/count_tokens`. Kind `anthropic` speaks the API without it.',
      webAddress.optional(),
    ),
    health_path: setting(
      'A path at the origin of `base_url`, such as `/healthz`; requires `base_url`. [Health ' +
        "probes](resilience.md#health-probes) use it in place of the kind's own path, and only a " +
        '2xx counts as up.',
      originPath.optional(),
    ),
    proxy: setting(
      'The proxy for calls to this provider, `http://user:secret@host:port`; `""` means no ' +
        'proxy. If absent, the [environment variables](proxies.md) apply.',
      proxyAddress.optional(),
    ),
    ca_file: setting(
      'The path of a PEM file with certificate authorities to trust for this provider, in ' +
        "addition to the system's. Read at startup and at each reload.",
      text.optional(),
    ),
    strict: setting(
      'Refuses a request with a field that the provider does not support, instead of dropping ' +
        'the field. As a fallback, the provider is skipped for such a request.',
      z.boolean().default(false),
    ),
    stream_usage: setting(
      'OpenAI-compatible kinds only. Whether the gateway [asks for token ' +
        'usage](providers/openai-compatible.md#usage-in-streams) in streams when the client did ' +
        'not; `"auto"` asks when auth is on.',
      z
        .union([z.boolean(), z.literal('auto')], { error: 'must be true, false or "auto"' })
        .default('auto'),
    ),
    profile: setting(
      "How the upstream differs from OpenAI's API in requests that the gateway writes: the name " +
        'of a [profile](upstream-profiles.md), `none`, or a table of its fields. Without it, the ' +
        'kind, the address and the `upstream_id` decide.',
      profileSetting.optional(),
    ),
    responses: setting(
      'OpenAI-compatible kinds only. Whether the upstream speaks the [Responses ' +
        'API](api.md#responses) at `{base_url}/responses`; its requests then pass unchanged, ' +
        'otherwise they are translated to chat completions. If absent, only kind `openai` without ' +
        '`base_url` does.',
      z.boolean().optional(),
    ),
    remote_images: setting(
      'Kinds `google` and `vertex_ai` only. Passes https addresses of images and files on to ' +
        'the vendor, which fetches them; otherwise they are refused.',
      z.boolean().default(false),
    ),
    map_input_type: setting(
      "Passes the client's `input_type` on in [embeddings](embeddings.md#retrieval-intent), to " +
        'every kind that has such a field.',
      z.boolean().default(false),
    ),
    connect_timeout_ms: setting(
      'At least 1. Replaces `resilience.connect_timeout_ms`.',
      duration.optional(),
    ),
    early_heartbeat_ms: setting(
      '0 or more. A streamed request that has seen no content for so long gets its [headers and a ' +
        'ping](resilience.md#early-heartbeat). `0` turns it off.',
      delay.default(0),
    ),
    first_token_timeout_ms: setting(
      'At least 1. Replaces `server.first_token_timeout_ms`.',
      duration.optional(),
    ),
    total_timeout_ms: setting(
      'At least 1. Replaces `resilience.total_timeout_ms`.',
      duration.optional(),
    ),
    max_parallel: setting(
      '1 to 1000000. [Calls at once](resilience.md#room-at-the-upstream) to the provider, over all its models; no ' +
        'limit if absent.',
      parallelCalls.optional(),
    ),
    queue_max: setting(
      '0 to 1000000. How many more requests wait for one of these calls to end.',
      queueLength.default(0),
    ),
    queue_ms: setting('How long they wait at most, in milliseconds.', delay.default(0)),
    api_version: setting(
      'Kind `azure` only. Overrides an `api-version` in the query of `base_url`.',
      word.optional(),
    ),
    latency_ms: setting(
      'Kind `demo` only. The delay before an answer; 0 if absent.',
      delay.optional(),
    ),
    tokens_per_second: setting(
      'Kind `demo` only, 0 to 1000000. The speed of an answer; 0 or absent means immediately.',
      amount(0, 1_000_000).optional(),
    ),
    failure_rate: setting(
      'Kind `demo` only, 0 to 1. The fraction of requests that fail; 0 if absent.',
      amount(0, 1).optional(),
    ),
    cost: setting(
      'What an answer costs: `calculated` from its counts and the prices, or what the vendor says in it that it ' +
        'charges (`reported`): see [Reported costs](prices.md#reported-costs). `"calculated"` by default.',
      z.enum(costMethods).optional(),
    ),
    cost_field: setting(
      'Where an answer states its cost, as a dotted path from its root, such as `usage.total_cost`. In place ' +
        'of the place that the kind knows.',
      fieldPath.optional(),
    ),
    cost_unit: setting(
      'The unit of `cost_field`: `usd`, or `usd_ticks` of 10⁻¹⁰ dollars. `"usd"` by default.',
      z.enum(costUnits).optional(),
    ),
    price_multiplier: setting(
      '0 to 1000, with at most 4 decimals. A factor for all [prices](prices.md) of tokens of ' +
        'this provider: of a host, a region or a contract.',
      priceFactor.optional(),
    ),
    auto_tier: setting(
      'The service tiers that a request without one, or with `auto`, may get. All are ' +
        '[reserved](prices.md#what-is-reserved); the first is assumed where an answer names none.',
      z.tuple([tierName], tierName).default(['standard']),
    ),
    auto_geo: setting(
      'The same for `inference_geo` of Claude: the default of the workspace.',
      z.tuple([tierName], tierName).default(['global']),
    ),
    affinity: setting(
      'Whether a [session](resilience.md#sessions) stays at one of several keys. With `"prefix"`, ' +
        'so do requests that name no session and begin with the same long prompt.',
      affinity.default(true),
    ),
    affinity_ttl_seconds: setting(
      '1 to 604800. How long the key of a session is remembered after its last request.',
      affinityTtl.default(300),
    ),
    discover: setting(
      "Reads the vendor's list of models, at the start and then every `discover_interval_ms`. " +
        '[Patterns](models.md#discovery) serve the models of the list, and no others.',
      z.boolean().default(false),
    ),
    discover_interval_ms: setting(
      'At least 100. The time between two readings of the list.',
      wholeNumber(100, maxTimerDelay).default(3_600_000),
    ),
    models: setting('The models of this provider; see below.', z.array(modelSchema).default([])),
  }),
)

type ParsedModel = z.infer<typeof modelSchema>
export type ParsedProvider = z.infer<typeof providerSchema>

/** An entry of a model, with the prices of the table where it takes them. */
export type ModelConfig = Omit<ParsedModel, 'prices'> & {
  prices: PriceEntry[]
  /** What it leaves out comes from the table of prices. */
  usesTable?: true
  /** Fills the prices of a model that the pattern serves; absent where it does not use the table. */
  fillPrices?: (model: ModelConfig) => ModelConfig
}
export type ProviderConfig = Omit<ParsedProvider, 'models'> & { models: ModelConfig[] }
