import * as z from 'zod'
import { unpricedPolicies } from '../core/prices.ts'
import { hostName, pageOrigin, serverAddress, urlPrefix, webAddress } from './addresses.ts'
import { type ProviderConfig, providerSchema } from './provider-schema.ts'
import { routeSchema } from './route-schema.ts'
import {
  amount,
  byteCount,
  delay,
  distinct,
  distinctNonEmpty,
  duration,
  setting,
  text,
  variableName,
  wholeNumber,
  word,
} from './rules.ts'
import { webhooks } from './webhook-schema.ts'

const workersRule = { error: 'must be a whole number from 1 to 256, or "auto"' }

const workers = z.union(
  [z.int(workersRule).min(1, workersRule).max(256, workersRule), z.literal('auto')],
  workersRule,
)

const server = setting(
  'The listener, the limits of requests, and streams.',
  z.strictObject({
    host: setting(
      'The address to listen on. `0.0.0.0` listens on every IPv4 address.',
      text.default('127.0.0.1'),
    ),
    port: setting('1 to 65535.', wholeNumber(1, 65_535).default(8080)),
    workers: setting(
      '1 to 256, or `"auto"` for the number of cores that the process may use. Processes that ' +
        '[share the port](workers.md); with auth on, more than one needs ' +
        '[`[shared]`](shared-state.md). Needs a restart.',
      workers.default(1),
    ),
    body_limit: setting(
      'The maximum size of a request body in bytes, 1 to 2147483647.',
      byteCount.default(10_485_760),
    ),
    answer_limit: setting(
      "The maximum size of an upstream's answer that is not streamed, in bytes after decoding, " +
        '1 to 67108864. A longer one counts as malformed (LM-3002), and the next link is tried. ' +
        'Answers to embeddings have a limit of their own. One text of over 24 MiB can hold up ' +
        'other requests for over 100 ms: lower the limit where upstreams are not trusted.',
      wholeNumber(1, 67_108_864).default(67_108_864),
    ),
    large_bodies: setting(
      'How many request bodies over 1 MiB may be in memory at once; further ones wait unread. ' +
        'At least 1.',
      wholeNumber(1, 1_000_000).default(8),
    ),
    buffer_limit: setting(
      'Bytes that all request bodies and all data queued for slow clients may take together, 1 ' +
        'to 1099511627776. When they run out, the stream with the most unread bytes ends first, ' +
        "and new bodies wait unread. If absent: a quarter of the process's heap limit, or 512 MiB " +
        'if the host does not know that limit.',
      wholeNumber(1, 2 ** 40).optional(),
    ),
    first_token_timeout_ms: setting(
      'At least 1. For a stream, the time to the first content; otherwise the time for the ' +
        'whole upstream call.',
      duration.default(120_000),
    ),
    sse_heartbeat_ms: setting(
      'How long a stream is silent before the gateway sends a comment line. `0` turns it off.',
      delay.default(15_000),
    ),
    cors_origins: setting(
      'Origins whose pages may [call the gateway](api.md#browser-apps), as browsers write them: ' +
        '`https://app.example.com`. `*` allows every origin.',
      distinct(pageOrigin).default([]),
    ),
    max_connections_per_address: setting(
      '0 to 1000000. Connections that one client address may have at a time. `0` means no ' +
        'limit.',
      wholeNumber(0, 1_000_000).default(0),
    ),
    drain_delay_ms: setting(
      'After SIGTERM, how long the gateway is [not ready](operations.md#readiness) but still ' +
        'accepts connections, so that load balancers can notice.',
      delay.default(0),
    ),
  }),
)

const auth = setting(
  'Virtual keys, budgets, rate limits, the usage log and the admin API: see [Keys](keys.md). ' +
    'Without auth the gateway is open to every client that can reach it. `enabled`, `db_path`, ' +
    '`journal_dir`, `usage_channel_capacity`, `usage_batch_max` and `usage_flush_ms` are read ' +
    'only at startup; a reload ignores changes to them, with a warning.',
  z.strictObject({
    enabled: setting('Needs `GATEWAY_MASTER_KEY`, 64 hex digits.', z.boolean().default(false)),
    db_path: setting(
      'The database file, or the `libsql:`, `https:` or `http:` address of a libSQL server, ' +
        'with its token in `GATEWAY_DB_AUTH_TOKEN`. A relative path begins in the working ' +
        'directory of the gateway and of each command, so prefer a whole one. The gateway and ' +
        '`gateway keys create` create the file if it does not exist.',
      text.default('gateway.db'),
    ),
    journal_dir: setting(
      'The folder, from the working directory unless the path is a whole one, of the ' +
        '[journal](usage.md#a-database-on-a-server) when the database is on a server, created if ' +
        'it does not exist. For a file, the journal is beside the file.',
      text.default('.'),
    ),
    flush_interval_ms: setting(
      'At least 1. The longest time between two writes of the spend; see [what a crash ' +
        'loses](usage.md#rows-and-spend-agree).',
      duration.default(10_000),
    ),
    retention_days: setting(
      '0 to 36500. The gateway deletes older rows of the usage log, the refused requests and the ' +
        'audit log; `0` keeps them for ever.',
      wholeNumber(0, 36_500).default(30),
    ),
    usage_channel_capacity: setting(
      '1 to 10000000. Usage rows that may wait for a write; further ones are dropped and ' +
        'counted.',
      wholeNumber(1, 10_000_000).default(10_000),
    ),
    usage_batch_max: setting(
      '1 to 100000. Usage rows in one write.',
      wholeNumber(1, 100_000).default(500),
    ),
    usage_flush_ms: setting(
      'At least 1. The longest time that a usage row waits for a write.',
      duration.default(2000),
    ),
    reserve_output_tokens: setting(
      '0 to 1000000000. Output tokens to reserve in the budget when neither the request nor the ' +
        'model limits them.',
      wholeNumber(0, 1_000_000_000).default(256),
    ),
    show_group: setting(
      'The holder of a key sees the budget and the limits of its group at [`GET /v1/key`](keys.md' +
        '#what-the-holder-of-a-key-sees).',
      z.boolean().default(false),
    ),
    unpriced: setting(
      'What happens to requests whose cost is [not known](prices.md#requests-without-a-price): `allow`, ' +
        '`refuse_capped` (of keys and groups with a cap) or `refuse` (of all keys).',
      z.enum(unpricedPolicies).default('allow'),
    ),
  }),
)

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

const telemetry = setting(
  'The labels of the [metrics](operations.md#metrics).',
  z.strictObject({
    metadata_labels: setting(
      'Keys of the `x-gateway-metadata` header that become metric labels. Each is 1 to 64 ' +
        'letters, digits and `_`, does not begin with a digit or `__`, and is not `capability`, ' +
        '`model`, `provider`, `direction`, `estimated`, `status` or `le`. No duplicates.',
      distinct(metadataLabel).default([]),
    ),
    max_series: setting(
      '1 to 1000000. Series of a metric that may have their own metadata values, for all labels ' +
        'together; beyond that the values read `other`. Also the number of budgets with series of ' +
        'their own. With several workers, it is [that of ' +
        'each](workers.md#what-is-shared-and-what-each-worker-has).',
      wholeNumber(1, 1_000_000).default(2000),
    ),
    budget_series: setting(
      'Shows the [budgets](operations.md#spend) of keys and groups in the metrics, by name.',
      z.boolean().default(false),
    ),
    otlp_endpoint: setting(
      'The base URL of an OpenTelemetry collector, `http:` or `https:`, without a user name. ' +
        'Spans go to `/v1/traces` below it. Wins over `OTEL_EXPORTER_OTLP_ENDPOINT`. See ' +
        '[Traces](traces.md).',
      webAddress.optional(),
    ),
    trace_sample_ratio: setting(
      '0 to 1. The share of traces that are recorded. A request whose `traceparent` says ' +
        'whether its trace is recorded follows that.',
      amount(0, 1).default(1),
    ),
  }),
)

const tokenizer = setting(
  'How the gateway counts tokens when an upstream does not report them.',
  z.strictObject({
    mode: setting(
      '`heuristic` estimates by bytes. `accurate` counts exactly for OpenAI models, after the ' +
        'answer has been sent.',
      z.enum(['heuristic', 'accurate']).default('heuristic'),
    ),
  }),
)

const resilience = setting(
  'Retries, circuit breakers, timeouts and health probes: see [Resilience](resilience.md).',
  z.strictObject({
    retry_max_attempts: setting(
      '1 to 100. Attempts per provider, including the first.',
      wholeNumber(1, 100).default(3),
    ),
    retry_base_ms: setting(
      'The first pause between attempts; it doubles with each one.',
      delay.default(200),
    ),
    retry_max_ms: setting('The longest pause between attempts.', delay.default(5000)),
    retry_after_max_ms: setting(
      'The longest `Retry-After` of a provider that the gateway waits for. On a longer one it ' +
        'tries the next link, or returns the error with that `Retry-After`.',
      delay.default(15_000),
    ),
    circuit_failure_threshold: setting(
      '1 to 1000000. Consecutive failures that open the circuit of a model.',
      wholeNumber(1, 1_000_000).default(5),
    ),
    circuit_cooldown_ms: setting(
      'How long an open circuit rejects requests before it lets one through.',
      delay.default(30_000),
    ),
    connect_timeout_ms: setting(
      'At least 1. Without `nodePorts()`, an embedded gateway ignores it and warns at startup.',
      duration.default(5000),
    ),
    total_timeout_ms: setting(
      'At least 1. The limit for a request with all its retries and fallbacks.',
      duration.default(600_000),
    ),
    health_check_enabled: setting(
      'Probes the providers that have a `base_url`.',
      z.boolean().default(false),
    ),
    health_check_interval_ms: setting('At least 1.', duration.default(30_000)),
  }),
)

const imageFetch = setting(
  'These settings control how the gateway fetches remote images in embedding input. It never ' +
    'fetches images in chat requests.',
  z.strictObject({
    enabled: setting('Turns fetching on.', z.boolean().default(false)),
    max_bytes: setting('1 to 2147483647, per image.', byteCount.default(10_485_760)),
    timeout_ms: setting('At least 1, per image.', duration.default(5000)),
    max_images: setting('1 to 1000, per request.', wholeNumber(1, 1000).default(16)),
    allowed_schemes: setting(
      'One or both of `https`, `http`.',
      distinctNonEmpty(z.enum(['https', 'http'])).default(['https']),
    ),
    allowed_hosts: setting(
      'Host names without scheme, port or path. A leading dot matches every subdomain: ' +
        '`.example.com`.',
      distinct(hostName).default([]),
    ),
    allowed_url_prefixes: setting(
      'http or https URLs; an address must begin with one of them. They are normalized: ' +
        '`https://example.com` becomes `https://example.com/`.',
      distinct(urlPrefix).default([]),
    ),
  }),
)

const cache = setting(
  'Answers to repeated requests: see [Cache](cache.md). Each model must allow it with `cache ' +
    '= true`.',
  z.strictObject({
    enabled: setting('Turns the cache on.', z.boolean().default(false)),
    ttl_seconds: setting(
      '1 to 31536000. How long an answer is served.',
      wholeNumber(1, 31_536_000).default(3600),
    ),
    max_bytes: setting(
      '1 to 1099511627776. The memory that all answers may take.',
      wholeNumber(1, 2 ** 40).default(268_435_456),
    ),
    max_entry_bytes: setting(
      '1 to 2147483647. The maximum size of an answer.',
      byteCount.default(1_048_576),
    ),
  }),
)

const shared = setting(
  'Optional. Several gateways share their state on a Redis or Valkey server: see [Shared ' +
    'state](shared-state.md).',
  z.strictObject({
    url: setting(
      '`redis://[user:password@]host[:port][/database]`, or `rediss://` for TLS. Either this or ' +
        '`url_env` is required.',
      serverAddress.optional(),
    ),
    url_env: setting(
      'The name of the environment variable that holds the address, with the same rule as ' +
        '`api_key_env`. Use it in place of `url` when the address contains a password.',
      variableName.optional(),
    ),
    prefix: setting(
      'Letters, digits, `.`, `_` and `-`. Gateways with the same prefix share their state.',
      word.default('gateway'),
    ),
    on_loss: setting(
      '`"refuse"` or `"local"`: what happens to requests that need admission, or room at an upstream, while the ' +
        'server cannot be used.',
      z.enum(['refuse', 'local']).default('refuse'),
    ),
    on_lost_hold: setting(
      '`"charge"` or `"release"`: what becomes of the reservations of a gateway that died.',
      z.enum(['charge', 'release']).default('charge'),
    ),
    lease_ms: setting(
      '1000 to 3600000. How long a reservation remains when its gateway does not renew it.',
      wholeNumber(1000, 3_600_000).default(30_000),
    ),
  }),
)

/** The configuration file. Rules that join several settings are in `check.ts`. */
export const configSchema = z.strictObject({
  log_format: setting(
    '`pretty` or `json`. Put it before the first table.',
    z.enum(['pretty', 'json']).default('pretty'),
  ),
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

/** A configuration as the schema parses it. */
export type ParsedConfig = z.infer<typeof configSchema>

/** A valid configuration with all defaults, and prices of the table. Its keys are those of the file. */
export type Config = Omit<ParsedConfig, 'providers'> & { providers: ProviderConfig[] }
