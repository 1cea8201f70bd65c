import { expect, test } from 'vitest'
import { loadValid } from './support.ts'

test('an empty file has the default of every setting', async () => {
  expect(await loadValid('')).toEqual({
    log_format: 'pretty',
    server: {
      host: '127.0.0.1',
      port: 8080,
      body_limit: 10_485_760,
      answer_limit: 67_108_864,
      workers: 1,
      large_bodies: 8,
      first_token_timeout_ms: 120_000,
      sse_heartbeat_ms: 15_000,
      cors_origins: [],
      max_connections_per_address: 0,
      drain_delay_ms: 0,
    },
    auth: {
      enabled: false,
      db_path: 'gateway.db',
      journal_dir: '.',
      flush_interval_ms: 10_000,
      retention_days: 30,
      show_group: false,
      usage_channel_capacity: 10_000,
      usage_batch_max: 500,
      usage_flush_ms: 2000,
      reserve_output_tokens: 256,
      unpriced: 'allow',
    },
    telemetry: {
      metadata_labels: [],
      max_series: 2000,
      budget_series: false,
      trace_sample_ratio: 1,
    },
    tokenizer: { mode: 'heuristic' },
    resilience: {
      retry_max_attempts: 3,
      retry_base_ms: 200,
      retry_max_ms: 5000,
      retry_after_max_ms: 15_000,
      circuit_failure_threshold: 5,
      circuit_cooldown_ms: 30_000,
      connect_timeout_ms: 5000,
      total_timeout_ms: 600_000,
      health_check_enabled: false,
      health_check_interval_ms: 30_000,
    },
    cache: {
      enabled: false,
      ttl_seconds: 3600,
      max_bytes: 268_435_456,
      max_entry_bytes: 1_048_576,
    },
    providers: [],
    routes: [],
    image_fetch: {
      enabled: false,
      max_bytes: 10_485_760,
      timeout_ms: 5000,
      max_images: 16,
      allowed_schemes: ['https'],
      allowed_hosts: [],
      allowed_url_prefixes: [],
    },
  })
})

test('a provider needs only a name and a kind, and a model only an id', async () => {
  const { providers } = await loadValid(`
    [[providers]]
    name = "main"
    kind = "openai"
    [[providers.models]]
    id = "gpt-4o"
  `)
  expect(providers).toEqual([
    {
      name: 'main',
      kind: 'openai',
      strict: false,
      stream_usage: 'auto',
      remote_images: false,
      early_heartbeat_ms: 0,
      map_input_type: false,
      queue_max: 0,
      queue_ms: 0,
      auto_tier: ['standard'],
      discover: false,
      discover_interval_ms: 3_600_000,
      auto_geo: ['global'],
      affinity: true,
      affinity_ttl_seconds: 300,
      models: [
        {
          id: 'gpt-4o',
          capabilities: ['chat'],
          modalities: ['text'],
          cache: false,
          reasoning: false,
          prices: [],
          reserve_tool_tokens: 0,
          fallbacks: [],
          fallback_on: [],
          queue_max: 0,
          queue_ms: 0,
        },
      ],
    },
  ])
})

test('webhooks need only a url', async () => {
  const { webhooks } = await loadValid(`
    [auth]
    enabled = true
    [webhooks]
    url = "https://hooks.example.com/gateway"
  `)
  expect(webhooks).toEqual({
    url: 'https://hooks.example.com/gateway',
    format: 'json',
    events: ['budget.threshold', 'budget.exhausted', 'key.disabled'],
    thresholds: [50, 80, 95],
    channel_capacity: 1024,
    timeout_ms: 5000,
    max_attempts: 5,
    retry_base_ms: 500,
  })
})

test('every setting of a file reaches the configuration', async () => {
  const config = await loadValid(`
    log_format = "json"
    server = { host = "0.0.0.0", port = 9090, body_limit = 1, first_token_timeout_ms = 2, sse_heartbeat_ms = 0 }
    tokenizer.mode = "accurate"

    [[providers]]
    name = "azure eu"
    kind = "azure"
    api_key_env = "AZURE_KEY"
    base_url = "https://eu.openai.azure.test?api-version=2024-10-21"
    api_version = "2024-06-01"
    strict = true
    stream_usage = true
    connect_timeout_ms = 1
    first_token_timeout_ms = 2
    total_timeout_ms = 3

    [[providers.models]]
    id = "org/model:tag"
    upstream_id = "deployment"
    capabilities = ["chat", "embed"]
    modalities = ["text", "image"]
    reasoning = true
    max_output_tokens = 4096
    cost_per_1m_input = 2.5
    cost_per_1m_output = 10
    cost_per_1m_cached_input = 0
    cost_per_1m_cache_write = 3.125
    cost_per_1k_searches = 2

    [[providers]]
    name = "rehearsal"
    kind = "demo"
    latency_ms = 10
    tokens_per_second = 0.5
    failure_rate = 0.25
  `)
  expect(config).toMatchObject({
    log_format: 'json',
    server: { host: '0.0.0.0', port: 9090, body_limit: 1, first_token_timeout_ms: 2 },
    tokenizer: { mode: 'accurate' },
    providers: [
      {
        name: 'azure eu',
        kind: 'azure',
        api_key_env: 'AZURE_KEY',
        base_url: 'https://eu.openai.azure.test?api-version=2024-10-21',
        api_version: '2024-06-01',
        strict: true,
        stream_usage: true,
        remote_images: false,
        early_heartbeat_ms: 0,
        map_input_type: false,
        connect_timeout_ms: 1,
        first_token_timeout_ms: 2,
        total_timeout_ms: 3,
        models: [
          {
            id: 'org/model:tag',
            upstream_id: 'deployment',
            capabilities: ['chat', 'embed'],
            modalities: ['text', 'image'],
            reasoning: true,
            max_output_tokens: 4096,
            cost_per_1m_input: 2.5,
            cost_per_1m_output: 10,
            cost_per_1m_cached_input: 0,
            cost_per_1m_cache_write: 3.125,
            cost_per_1k_searches: 2,
          },
        ],
      },
      { kind: 'demo', latency_ms: 10, tokens_per_second: 0.5, failure_rate: 0.25 },
    ],
  })
})
