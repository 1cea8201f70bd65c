import * as z from 'zod'
import { clouds } from '../core/cloud-credential.ts'
import { maxTimerDelay } from '../core/ids.ts'
import { costMethods, costUnits } from '../core/price-settings.ts'
import { baseUrl, originPath, proxyAddress, webAddress } from './addresses.ts'
import { type ModelConfig, modelSchema } from './model-schema.ts'
import { profileSetting } from './profile-schema.ts'
import {
  affinity,
  affinityTtl,
  amount,
  delay,
  distinctNonEmpty,
  duration,
  fieldPath,
  headerText,
  parallelCalls,
  priceFactor,
  queueLength,
  setting,
  text,
  tierName,
  variableName,
  wholeNumber,
  word,
} from './rules.ts'

/** One entry of `[[providers]]`. The rules of each kind are in `check-kinds.ts`. */
export const providerSchema = setting(
  'One entry for each upstream; each starts with `[[providers]]`.',
  z.strictObject({
    name: setting(
      '1 to 256 printable Latin-1 characters, with no space at either end. Must be unique.',
      headerText,
    ),
    kind: setting('One of the [provider kinds](providers/README.md).', z.string()),
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
      "The full address of the vendor's own [Messages API](vendor-apis.md#messages), for example " +
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
        'API](vendor-apis.md#responses) at `{base_url}/responses`; its requests then pass unchanged, ' +
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

export type ParsedProvider = z.infer<typeof providerSchema>

export type ProviderConfig = Omit<ParsedProvider, 'models'> & { models: ModelConfig[] }
