import * as z from 'zod'
import { accountEventTypes } from '../core/account-event.ts'
import { hostName, pageOrigin, serverAddress, urlPrefix, webAddress } from './addresses.ts'
import { providerSchema } from './provider-schema.ts'
import { routeSchema } from './route-schema.ts'
import {
  amount,
  byteCount,
  delay,
  distinct,
  distinctNonEmpty,
  duration,
  text,
  variableName,
  wholeNumber,
  word,
} from './rules.ts'

const workersRule = { error: 'must be a whole number from 1 to 256, or "auto"' }

const workers = z.union(
  [z.int(workersRule).min(1, workersRule).max(256, workersRule), z.literal('auto')],
  workersRule,
)

const server = z.strictObject({
  host: text.default('127.0.0.1'),
  port: wholeNumber(1, 65_535).default(8080),
  workers: workers.default(1),
  body_limit: byteCount.default(10_485_760),
  answer_limit: wholeNumber(1, 67_108_864).default(67_108_864),
  large_bodies: wholeNumber(1, 1_000_000).default(8),
  buffer_limit: wholeNumber(1, 2 ** 40).optional(),
  first_token_timeout_ms: duration.default(120_000),
  sse_heartbeat_ms: delay.default(15_000),
  cors_origins: distinct(pageOrigin).default([]),
  max_connections_per_address: wholeNumber(0, 1_000_000).default(0),
  drain_delay_ms: delay.default(0),
})

const auth = z.strictObject({
  enabled: z.boolean().default(false),
  db_path: text.default('gateway.db'),
  journal_dir: text.default('.'),
  flush_interval_ms: duration.default(10_000),
  retention_days: wholeNumber(0, 36_500).default(30),
  usage_channel_capacity: wholeNumber(1, 10_000_000).default(10_000),
  usage_batch_max: wholeNumber(1, 100_000).default(500),
  usage_flush_ms: duration.default(2000),
  reserve_output_tokens: wholeNumber(0, 1_000_000_000).default(256),
})

/** The labels that the gateway itself uses. */
const ownLabels = new Set([
  'capability',
  'model',
  'provider',
  'direction',
  'estimated',
  'status',
  'le',
])

// Metadata keys have at most 64 bytes.
const metadataLabel = z
  .string()
  .regex(/^[A-Za-z_]\w{0,63}$/, {
    error: 'must be a legal label name: 1 to 64 letters, digits and "_", not a digit first',
  })
  .refine((label) => !ownLabels.has(label) && !label.startsWith('__'), {
    error: `is reserved, as are ${[...ownLabels].join(', ')} and names that start with "__"`,
  })

const telemetry = z.strictObject({
  metadata_labels: distinct(metadataLabel).default([]),
  max_series: wholeNumber(1, 1_000_000).default(2000),
  budget_series: z.boolean().default(false),
  otlp_endpoint: webAddress.optional(),
  trace_sample_ratio: amount(0, 1).default(1),
})

const tokenizer = z.strictObject({
  mode: z.enum(['heuristic', 'accurate']).default('heuristic'),
})

const resilience = z.strictObject({
  retry_max_attempts: wholeNumber(1, 100).default(3),
  retry_base_ms: delay.default(200),
  retry_max_ms: delay.default(5000),
  retry_after_max_ms: delay.default(15_000),
  circuit_failure_threshold: wholeNumber(1, 1_000_000).default(5),
  circuit_cooldown_ms: delay.default(30_000),
  connect_timeout_ms: duration.default(5000),
  total_timeout_ms: duration.default(600_000),
  health_check_enabled: z.boolean().default(false),
  health_check_interval_ms: duration.default(30_000),
})

const imageFetch = z.strictObject({
  enabled: z.boolean().default(false),
  max_bytes: byteCount.default(10_485_760),
  timeout_ms: duration.default(5000),
  max_images: wholeNumber(1, 1000).default(16),
  allowed_schemes: distinctNonEmpty(z.enum(['https', 'http'])).default(['https']),
  allowed_hosts: distinct(hostName).default([]),
  allowed_url_prefixes: distinct(urlPrefix).default([]),
})

const cache = z.strictObject({
  enabled: z.boolean().default(false),
  ttl_seconds: wholeNumber(1, 31_536_000).default(3600),
  max_bytes: wholeNumber(1, 2 ** 40).default(268_435_456),
  max_entry_bytes: byteCount.default(1_048_576),
})

const shared = z.strictObject({
  url: serverAddress.optional(),
  /** The variable that holds the address, which may contain a password. */
  url_env: variableName.optional(),
  prefix: word.default('gateway'),
  on_loss: z.enum(['refuse', 'local']).default('refuse'),
  on_lost_hold: z.enum(['charge', 'release']).default('charge'),
  lease_ms: wholeNumber(1000, 3_600_000).default(30_000),
})

/** The settings of webhooks, in the file and in `PUT /admin/webhooks`. */
export const webhookSettings = z.strictObject({
  url: webAddress,
  events: distinctNonEmpty(z.enum(accountEventTypes)).default([
    'budget.threshold',
    'budget.exhausted',
    'key.disabled',
  ]),
  thresholds: distinct(wholeNumber(1, 100))
    .overwrite((percentages) => percentages.toSorted((a, b) => a - b))
    .default([50, 80, 95]),
  channel_capacity: wholeNumber(1, 1_000_000).default(1024),
  timeout_ms: duration.default(5000),
  max_attempts: wholeNumber(1, 100).default(5),
  retry_base_ms: delay.default(500),
})

const webhooks = webhookSettings.extend({ signing_key_env: variableName.optional() })

/** The configuration file. Rules that join several settings are in `check.ts`. */
export const configSchema = z.strictObject({
  log_format: z.enum(['pretty', 'json']).default('pretty'),
  server: server.prefault({}),
  auth: auth.prefault({}),
  telemetry: telemetry.prefault({}),
  tokenizer: tokenizer.prefault({}),
  resilience: resilience.prefault({}),
  cache: cache.prefault({}),
  providers: z.array(providerSchema).default([]),
  routes: z.array(routeSchema).default([]),
  image_fetch: imageFetch.prefault({}),
  shared: shared.optional(),
  webhooks: webhooks.optional(),
})

/** A valid configuration with all defaults. Its keys are those of the file. */
export type Config = z.infer<typeof configSchema>
