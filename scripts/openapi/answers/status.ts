import * as z from 'zod'
import { vendorTools } from '../../../src/core/billing.ts'
import { capabilities, modalities } from '../../../src/core/capability.ts'
import { fallbackCauses } from '../../../src/core/fallback.ts'
import { strategies } from '../../../src/core/route.ts'
import { requestSchemas } from '../requests.ts'
import { code, count, text, time, usd } from './values.ts'

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

/** The answers about the gateway, its models and its settings. */
export const statusAnswers = {
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
}
