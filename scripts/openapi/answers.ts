import * as z from 'zod'
import { auditActions } from '../../src/core/audit.ts'
import { vendorTools } from '../../src/core/billing.ts'
import { budgetPeriods } from '../../src/core/budget-period.ts'
import { apis, capabilities, modalities } from '../../src/core/capability.ts'
import { errorTable } from '../../src/core/errors.ts'
import { fallbackCauses } from '../../src/core/fallback.ts'
import { priorities } from '../../src/core/room.ts'
import { strategies } from '../../src/core/route.ts'
import { costSources, usageGroupings, usageIntervals } from '../../src/store/index.ts'
import { requestSchemas } from './requests.ts'

/*
 * The bodies of answers. Answers of vendors may have more fields than these schemas; answers of the
 * gateway have exactly these.
 */

const count = z.int().nonnegative()
const time = z.int().describe('Unix seconds.')
const usd = z.number().describe('US dollars.')
const text = z.string()
const code = z.enum(Object.keys(errorTable))
const requestId = z.string()

const error = z.strictObject({
  error: z.looseObject({
    code,
    type: z.enum(['invalid_request', 'upstream_error', 'internal', 'client_cancelled']),
    message: text,
    param: text.nullable().describe('The field at fault, as a dotted path.'),
    request_id: requestId,
    retry_after: count.optional().describe('Seconds to wait.'),
  }),
})

const responsesError = z.strictObject({
  error: z.looseObject({
    code: text.describe('A code of OpenAI where clients act on it, otherwise that of the gateway.'),
    gateway_code: code,
    message: text,
    request_id: requestId,
  }),
})

const messagesError = z.strictObject({
  type: z.literal('error'),
  error: z.looseObject({ type: text, message: text, code, param: text.nullable() }),
  request_id: requestId,
})

const geminiError = z.strictObject({
  error: z.looseObject({
    code: count.describe('The status.'),
    message: text,
    status: text.describe('The word of google.rpc.Code.'),
    details: z.array(z.looseObject({ '@type': text })),
  }),
})

const usage = z.looseObject({
  prompt_tokens: count.optional(),
  total_tokens: count.optional(),
  estimated: z.boolean().optional().describe('Whether the gateway counted.'),
})

const choices = z.array(z.looseObject({ index: count }))
const completion = z.looseObject({ object: text, model: text, choices, usage: usage.optional() })

const message = z.looseObject({
  type: z.literal('message'),
  role: z.literal('assistant'),
  content: z.array(z.looseObject({ type: text })),
  model: text,
  usage: z.looseObject({ input_tokens: count, output_tokens: count }),
})

const response = z.looseObject({
  object: z.literal('response'),
  id: text,
  status: text,
  model: text,
  output: z.array(z.looseObject({ type: text })),
})

const embeddings = z.looseObject({
  object: z.literal('list'),
  model: text,
  data: z.array(
    z.looseObject({ index: count, embedding: z.union([z.array(z.number()), z.string()]) }),
  ),
  usage,
})

const rerank = z.looseObject({
  model: text,
  results: z.array(z.looseObject({ index: count, relevance_score: z.number() })),
  usage: z.looseObject({}),
})

const openAiDecisions = z.looseObject({ answers: z.array(z.looseObject({ type: text })).min(1) })
const systemOne = z.looseObject({ answers: z.record(text, z.looseObject({ type: text })) })

const model = z.strictObject({
  id: text,
  object: z.literal('model'),
  created: time,
  owned_by: text.describe('The provider of a model; "gateway" for a route.'),
  capabilities: z.array(z.enum(capabilities)),
  modalities: z.array(z.enum(modalities)),
})

const geminiAnswer = z.looseObject({
  candidates: z.array(z.looseObject({ index: count.optional() })).optional(),
  usageMetadata: z.looseObject({ totalTokenCount: count.optional() }).optional(),
  modelVersion: text.optional(),
})

const geminiVector = z.looseObject({ values: z.array(z.number()) })

const geminiEmbedCounts = z
  .looseObject({ promptTokenCount: count.optional(), estimated: z.boolean().optional() })
  .optional()

const geminiModel = z.strictObject({
  name: text.describe('`models/` and the id.'),
  displayName: text,
  outputTokenLimit: count.optional(),
  supportedGenerationMethods: z.array(text),
})

const anthropicModel = z.looseObject({ type: z.literal('model'), id: text, display_name: text })

const modelList = z.union([
  z.strictObject({ object: z.literal('list'), data: z.array(model) }),
  z
    .looseObject({ data: z.array(anthropicModel), has_more: z.boolean() })
    .describe('With a header `anthropic-version`.'),
  z
    .strictObject({ models: z.array(geminiModel), nextPageToken: text.optional() })
    .describe('With a header `x-goog-api-key` or `x-goog-api-client`.'),
])

const limits = {
  models: z.array(text).nullable(),
  budget_max: usd.nullable(),
  budget_period: z.enum(budgetPeriods).nullable(),
  budget_spent: usd.describe('US dollars spent in the running period.'),
  budget_reserved: usd.describe('US dollars that running requests may still spend.'),
  budget_resets_at: time.nullable(),
  spent_total: usd,
  rpm_limit: count.nullable(),
  tpm_limit: count.nullable(),
  max_parallel: count.nullable(),
  priority: z
    .enum(priorities)
    .nullable()
    .describe(
      'Who goes first where requests wait for an upstream. Null for a key: that of its group.',
    ),
  in_flight: count,
}

const left = z
  .strictObject({ limit: count, remaining: count })
  .nullable()
  .describe('Null without a limit.')

/** What the holder of a key sees of the limits of the key, or of its group. */
const amounts = {
  budget: z.strictObject({
    max: usd.nullable(),
    spent: usd,
    reserved: usd,
    period: z.enum(budgetPeriods).nullable(),
    resets_at: time.nullable(),
  }),
  limits: z.strictObject({ rpm: left, tpm: left, max_parallel: left }),
}

const key = z.strictObject({
  id: text,
  name: text,
  group_id: text.nullable(),
  ...limits,
  expires_at: time.nullable(),
  disabled: z.boolean(),
  grace_ends_at: time.nullable().describe('Until when the former secret is valid.'),
  created_at: time,
  deleted_at: time.nullable(),
})

const group = z.strictObject({
  id: text,
  name: text,
  ...limits,
  created_at: time,
  deleted_at: time.nullable(),
})

const usageSum = z.strictObject({
  group: text.nullable(),
  requests: count,
  requests_ok: count,
  requests_client_error: count,
  requests_server_error: count,
  tokens_in: count,
  tokens_out: count,
  tokens_total: count,
  cached_tokens: count,
  cached_share: z.number().nullable().describe('The part of `tokens_in` that was cached.'),
  estimated_requests: count,
  upstream_requests: count,
  search_units: count,
  media_count: count,
  media_bytes: count,
  cost: usd,
  last_at: time.describe('The time of the latest request.'),
  intervals: z
    .array(
      z.strictObject({
        start: time,
        requests: count,
        tokens_in: count,
        tokens_out: count,
        cached_tokens: count,
        cost: usd,
      }),
    )
    .optional(),
})

const failure = {
  reason: text.nullable().describe('Why the gateway refused the request by itself.'),
  failed: z
    .array(
      z.strictObject({
        model: text,
        provider: text,
        reason: text,
        attempts: count,
        failure: text.describe('The kind of failure, such as `status`, `timeout` or `network`.'),
        status: count.nullable().describe('The status of the upstream, if it has answered.'),
        code: text.nullable().describe('The code of the vendor or of the network error.'),
      }),
    )
    .describe('The links that did not serve, and why.'),
}

const usageRow = z.strictObject({
  id: count,
  ts: time,
  request_id: requestId,
  key_id: text,
  group_id: text.nullable(),
  model: text,
  model_used: text.nullable(),
  provider: text,
  capability: z.enum(capabilities),
  api: z.enum(apis),
  stream: z.boolean(),
  tokens_in: count,
  tokens_out: count,
  tokens_total: count,
  estimated: z.boolean(),
  cached_tokens: count,
  cache_write_tokens: count,
  reasoning_tokens: count,
  search_units: count,
  media_count: count,
  media_bytes: count,
  cost: usd,
  latency_ms: count,
  ttft_ms: count.nullable(),
  attempts: count,
  cache_hit: z.boolean(),
  status: count,
  error_code: code.nullable(),
  metadata: z.record(text, z.union([text, z.number(), z.boolean()])),
  tier: text.nullable(),
  geo: text.nullable(),
  cache_write_long_tokens: count.nullable(),
  audio_tokens_in: count.nullable(),
  audio_tokens_out: count.nullable(),
  image_tokens_in: count.nullable(),
  image_tokens_out: count.nullable(),
  tool_calls: z.partialRecord(z.enum(vendorTools), count).nullable(),
  cost_source: z.enum(costSources).nullable(),
  cost_reported: usd.nullable(),
  price: text.nullable(),
  queued_ms: count.nullable().describe('The wait for room at upstreams.'),
  price_id: text.nullable(),
  reserved: usd.nullable(),
  cost_calculated: usd.nullable(),
  cost_repriced: usd.nullable(),
  ...failure,
})

const explainedRow = usageRow.extend({
  lines: z.array(z.strictObject({ name: text, count, price: usd, per: count, cost: usd })),
  calculated: usd.nullable(),
  is_exact: z.boolean(),
})

const listedRequest = z.strictObject({
  id: text,
  ts: time,
  request_id: requestId,
  key_id: text.nullable(),
  group_id: text.nullable(),
  api: z.enum(apis),
  stream: z.boolean(),
  model: text.nullable(),
  model_used: text.nullable(),
  provider: text.nullable(),
  status: count,
  error_code: code.nullable(),
  latency_ms: count,
  ttft_ms: count.nullable(),
  queued_ms: count.nullable().describe('The wait for room at upstreams.'),
  tokens_in: count.nullable(),
  tokens_out: count.nullable(),
  estimated: z.boolean(),
  cost: usd,
  cache_hit: z.boolean(),
  attempts: count,
  ...failure,
  count: count.describe(
    'The requests that the row stands for: more than 1 for many refused alike.',
  ),
})

const audit = z.strictObject({
  id: count,
  ts: time,
  action: z.enum(auditActions),
  scope: text,
  subject_id: text.nullable(),
  request_id: requestId.nullable(),
  client: text.nullable(),
})

const health = z.strictObject({
  status: z.enum(['up', 'down', 'unknown']),
  checked_at: time.nullable(),
  latency_ms: z.number().nullable(),
  detail: text.nullable(),
})

const providers = z.record(text, health)

const credentialState = z.enum(['missing', 'parked', 'partial', 'present', 'not_needed'])

const circuitState = z.enum(['closed', 'open', 'half-open'])

const room = {
  max_parallel: count,
  running: count,
  queue_max: count,
  waiting: count,
}

const status = z.strictObject({
  version: text,
  started_at: time,
  now: time,
  in_flight: count,
  pins: count.describe('Sessions that are remembered with what served them.'),
  providers,
  credentials: z.record(text, z.strictObject({ state: credentialState, detail: text })),
  circuits: z.array(
    z.strictObject({
      provider: text,
      model: text,
      state: circuitState,
      last_failure: z.strictObject({ reason: text, at: time }).nullable(),
    }),
  ),
  rooms: z
    .array(
      z.strictObject({
        provider: text,
        model: text.nullable().describe('Null for the limit of the provider.'),
        ...room,
      }),
    )
    .describe('The limits of calls at once, and what they have taken.'),
  parked_credentials: z.array(
    z.strictObject({
      provider: text,
      credential: text,
      model: text.nullable(),
      reason: text,
      until: time,
    }),
  ),
  model_lists: z
    .record(
      text,
      z.strictObject({
        models: count.nullable(),
        listed_at: time.nullable(),
        failure: text.nullable().describe('Why the list could not be read last.'),
      }),
    )
    .describe('By provider: the lists of models that are read because of `discover`.'),
  minutes: z.array(
    z.strictObject({
      starts_at: time,
      requests_ok: count,
      requests_client_error: count,
      requests_server_error: count,
      tokens_in: count,
      tokens_out: count,
      cost: usd,
      latency_p50_ms: z.number().nullable(),
      latency_p95_ms: z.number().nullable(),
    }),
  ),
})

const link = {
  model: text,
  provider: text,
  circuit: circuitState,
  in_flight: count,
  context_window: count.nullable(),
}

const modelReport = z.strictObject({
  id: text,
  provider: text,
  kind: text,
  upstream_id: text.describe("The vendor's name for the model."),
  is_pattern: z.boolean(),
  capabilities: z.array(z.enum(capabilities)),
  modalities: z.array(z.enum(modalities)),
  context_window: count.nullable(),
  max_input_tokens: count.nullable(),
  max_output_tokens: count.nullable(),
  fallbacks: z
    .array(text)
    .nullable()
    .describe('Null for a pattern: each id that it serves has a chain of its own.'),
  prices: z
    .record(text, z.number())
    .nullable()
    .describe('US dollars for a million tokens or a thousand calls; null without a price.'),
  prices_vary: z
    .boolean()
    .describe('They depend on more than the kind of token: these are those of the standard tier.'),
  cost_reported: z.boolean().describe('Its answers cost what the vendor says in them.'),
  missing_prices: z.array(text).describe('The prices without which a cost is not known.'),
  created: time,
})

const routeReport = z.strictObject({
  id: text,
  strategy: z.enum([...strategies, 'switch']),
  affinity: z.enum(['off', 'session', 'prefix']).describe('Which requests stay at a target.'),
  affinity_ttl_seconds: count.nullable(),
  fallback_on: z
    .array(z.enum(fallbackCauses))
    .nullable()
    .describe('Null where each link has its own.'),
  cases: z
    .array(z.strictObject({ target: text, conditions: z.array(text) }))
    .nullable()
    .describe('The cases of a switch, with the names of their conditions; null for other routes.'),
  default: text.nullable().describe('The target of a switch when no case holds.'),
  targets: z.array(
    z.strictObject({
      ...link,
      weight: z.number(),
      ttft_ms: count.nullable(),
      latency_ms: count.nullable(),
    }),
  ),
  fallbacks: z.array(z.strictObject(link)),
})

const switchStep = z.strictObject({
  id: text,
  target: text,
  cases: z
    .array(
      z.strictObject({
        target: text,
        holds: z.boolean(),
        conditions: z.array(
          z.strictObject({
            name: text,
            value: z.union([text, z.number(), z.boolean()]).nullable(),
            holds: z.boolean(),
          }),
        ),
      }),
    )
    .describe('In order, each with its conditions up to the first one that does not hold.'),
})

const explanation = z.strictObject({
  route: z
    .strictObject({
      id: text,
      switches: z.array(switchStep).describe('How switches have chosen the route that serves.'),
      order: z.array(text),
    })
    .nullable(),
  links: z.array(
    z.strictObject({
      model: text,
      pattern: text
        .nullable()
        .describe('The pattern that serves the model; null for a model that the file names.'),
      provider: text,
      credential: credentialState,
      credential_detail: text.describe('In words: `stored`, or why it is missing.'),
      circuit: circuitState,
      rooms: z
        .array(z.strictObject({ scope: z.enum(['provider', 'model']), ...room }))
        .describe('The limits of calls at once that hold for the link.'),
      pinned: z.boolean().describe('The link, or its credential, has served the session last.'),
      pinned_credential: text.nullable().describe('The credential that goes first.'),
      dropped: z.array(text).describe('The fields that the link would leave out.'),
      cache_marks: z
        .array(text)
        .nullable()
        .describe(
          'Where the gateway marks the prompt for the cache of the vendor; null where it does not.',
        ),
      profile: text
        .nullable()
        .describe(
          'Where the profile of the upstream comes from; null for APIs other than that of OpenAI.',
        ),
      prompt_price: z
        .enum([
          'cost_per_1m_input',
          'cost_per_1m_cached_input',
          'cost_per_1m_cache_write',
          'cost_per_1m_cache_write_1h',
          'cost_per_1m_cache_write_12h',
          'cost_per_1m_audio_input',
          'cost_per_1m_image_input',
          'cost_per_1m_video_input',
          'cost_per_1m_cached_audio_input',
        ])
        .nullable()
        .describe('The setting at whose price the prompt is reserved; null without prices.'),
      price: text
        .nullable()
        .describe('The entries of the prices at which it would cost most; null for the base.'),
      reservation: usd.nullable().describe('Reserved if the link serves; null without prices.'),
      lines: z
        .array(
          z.strictObject({
            name: text,
            count,
            price: usd,
            per: count,
            cost: usd,
            price_entries: text.nullable(),
            bounded: z.boolean(),
          }),
        )
        .describe('What is reserved, as the lines of a cost have it.'),
      unpriced: z
        .strictObject({ missing: text, setting: text })
        .nullable()
        .describe(
          'Why the cost on the link is not known, whether or not that refuses the request.',
        ),
      tools: z
        .array(z.strictObject({ name: z.enum(vendorTools), calls: count, bounded: z.boolean() }))
        .describe(
          'The tools of the vendor that the request allows, with the calls that are reserved.',
        ),
      error: z.looseObject({}).nullable(),
      upstream: z.looseObject({ url: text }).nullable(),
    }),
  ),
  estimate: z.strictObject({ prompt_tokens: count, output_tokens: count }).nullable(),
  reservation: usd.nullable(),
  admission: z.strictObject({
    verdict: z.enum(['admitted', 'refused']),
    code: code.nullable(),
    scope: text.nullable(),
  }),
  error: z.looseObject({}).nullable().describe('What the client would get before any call.'),
})

const window = { since: time, until: time }
const cursor = count.nullable().describe('For the next page; null after the last row.')

/** The schemas of all answers in JSON, by their name in the document. */
export const answerSchemas = {
  Error: error,
  MessagesError: messagesError,
  ResponsesError: responsesError,
  GeminiError: geminiError,
  // The headers decide.
  ModelsError: z.union([error, messagesError, geminiError]),
  Completion: completion,
  Message: message,
  TokenCount: z.looseObject({ input_tokens: count, estimated: z.boolean().optional() }),
  Response: response,
  GeminiAnswer: geminiAnswer,
  GeminiChunks: z.array(geminiAnswer),
  GeminiTokenCount: z.looseObject({ totalTokens: count, estimated: z.boolean().optional() }),
  GeminiEmbedding: z.looseObject({ embedding: geminiVector, usageMetadata: geminiEmbedCounts }),
  GeminiEmbeddings: z.looseObject({
    embeddings: z.array(geminiVector),
    usageMetadata: geminiEmbedCounts,
  }),
  GeminiModel: geminiModel,
  GeminiModelList: z.strictObject({
    models: z.array(geminiModel),
    nextPageToken: text.optional(),
  }),
  Embeddings: embeddings,
  Ranking: rerank,
  Decisions: z.union([openAiDecisions, systemOne]),
  SystemOne: systemOne,
  Model: z.union([model, anthropicModel, geminiModel]),
  ModelList: modelList,
  Front: z.strictObject({ name: text, version: text, routes: z.array(text) }),
  Health: z.strictObject({ status: z.literal('ok') }),
  Readiness: z.strictObject({ status: text }),
  ProviderHealth: z.strictObject({ providers }),
  CheckedProvider: z.strictObject({
    provider: text,
    model: text.describe('The model that was asked.'),
    credentials: z.array(
      z.strictObject({
        credential: text.describe('The variable that holds it, or the cloud that provides it.'),
        reachable: z.boolean().nullable().describe('Null: not known.'),
        authenticated: z.boolean().nullable(),
        model_known: z.boolean().nullable(),
        first_token_ms: count.nullable(),
        cost: usd.nullable(),
        error: text.nullable(),
      }),
    ),
  }),
  Key: key,
  OwnKey: z.strictObject({
    name: text,
    group: text.nullable().describe('The name of its group.'),
    models: z.array(text).nullable().describe('Null: all models.'),
    expires_at: time.nullable(),
    ...amounts,
    group_amounts: z.strictObject(amounts).optional(),
  }),
  KeyWithSecret: key.extend({ key: text.describe('The secret. It is shown only once.') }),
  KeyList: z.strictObject({ keys: z.array(key) }),
  Group: group,
  GroupList: z.strictObject({ groups: z.array(group) }),
  UsageSums: z.strictObject({
    ...window,
    group_by: z.enum(usageGroupings),
    interval: z.enum(usageIntervals).optional(),
    truncated: z.boolean(),
    groups: z.array(usageSum),
  }),
  RepricedSums: z.strictObject({
    ...window,
    groups: z.array(
      z.strictObject({
        key_id: text,
        model: text,
        requests: count,
        inexact: count,
        cost: usd,
        cost_repriced: usd,
      }),
    ),
    next_cursor: cursor,
  }),
  UsageCosts: z.strictObject({ rows: z.array(explainedRow) }),
  UsageParts: z.strictObject({
    ...window,
    parts: z.array(z.strictObject({ name: text, count, cost: usd })),
    next_cursor: cursor,
  }),
  UsageRows: z.strictObject({ ...window, rows: z.array(usageRow), next_cursor: cursor }),
  AuditRows: z.strictObject({ ...window, rows: z.array(audit), next_cursor: cursor }),
  RequestList: z.strictObject({
    since: time.nullable(),
    until: time.nullable(),
    rows: z.array(listedRequest),
    next_cursor: text.nullable().describe('For the page of older requests; null after the last.'),
    after: text.describe('Leads to the requests that are written later.'),
  }),
  Status: status,
  ModelReports: z.strictObject({
    models: z.array(modelReport),
    discovered: z
      .array(
        z.strictObject({
          id: text,
          provider: text.nullable(),
          capabilities: z.array(z.enum(capabilities)),
        }),
      )
      .describe('What vendors list and patterns serve.'),
  }),
  Settings: z.strictObject({
    settings: z.array(
      z.strictObject({
        setting: text.describe('The dotted name.'),
        value: z.unknown(),
        origin: z.enum(['file', 'environment', 'default']),
        variable: text.nullable().describe('The variable that set it.'),
      }),
    ),
  }),
  RouteReports: z.strictObject({ routes: z.array(routeReport) }),
  Explanation: explanation,
  ConfigFile: z.strictObject({ config: text, hash: text }),
  ClearedCache: z.strictObject({ deleted: count }),
  WebhookState: z.strictObject({
    enabled: z.boolean(),
    source: text,
    settings: requestSchemas.WebhookSettings.nullable(),
    signed: z.boolean(),
    signing_key_stored: z.boolean(),
    updated_at: time.nullable(),
  }),
} satisfies Record<string, z.ZodType>
