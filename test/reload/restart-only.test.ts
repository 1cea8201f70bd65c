import { expect, test } from 'vitest'
import { keepRestartOnly } from '../../src/reload/restart-only.ts'
import { loadValid } from '../config/support.ts'

const everything = `
log_format = "json"
[server]
host = "0.0.0.0"
port = 9090
body_limit = 5
first_token_timeout_ms = 6
sse_heartbeat_ms = 7
[auth]
enabled = true
db_path = "other.db"
journal_dir = "other"
flush_interval_ms = 8
retention_days = 9
usage_channel_capacity = 10
usage_batch_max = 11
usage_flush_ms = 12
reserve_output_tokens = 13
[telemetry]
metadata_labels = ["team"]
max_series = 14
budget_series = true
otlp_endpoint = "http://collector.test"
trace_sample_ratio = 0.5
[tokenizer]
mode = "accurate"
[resilience]
retry_max_attempts = 1
health_check_enabled = true
[webhooks]
url = "https://hooks.test"
`

test('what is bound from the start keeps its running value, and is named', async () => {
  const [running, candidate] = [await loadValid(''), await loadValid(everything)]
  const { config, ignored } = keepRestartOnly(running, candidate)
  expect(ignored).toEqual([
    'log_format',
    'server.host',
    'server.port',
    'auth.enabled',
    'auth.db_path',
    'auth.journal_dir',
    'auth.usage_channel_capacity',
    'auth.usage_batch_max',
    'auth.usage_flush_ms',
    'telemetry.metadata_labels',
    'telemetry.max_series',
    'telemetry.budget_series',
    'telemetry.trace_sample_ratio',
    'telemetry.otlp_endpoint',
  ])
  expect(config).toEqual({
    ...candidate,
    log_format: 'pretty',
    server: { ...candidate.server, host: '127.0.0.1', port: 8080 },
    auth: { ...running.auth, flush_interval_ms: 8, retention_days: 9, reserve_output_tokens: 13 },
    telemetry: running.telemetry,
    webhooks: undefined,
  })
})

test('nothing is named when only other settings differ', async () => {
  const running = await loadValid(everything)
  const candidate = await loadValid(everything.replace(/(?<= )(?:5|6|7|8|9|13)$/gm, '99'))
  expect(candidate.server.body_limit).toBe(99)
  expect(keepRestartOnly(running, candidate)).toEqual({ config: candidate, ignored: [] })
})

test('webhooks can come and go as long as auth is on', async () => {
  const running = await loadValid(everything)
  const without = await loadValid(everything.slice(0, everything.indexOf('[webhooks]')))
  expect(keepRestartOnly(running, without).config.webhooks).toBeUndefined()
  expect(keepRestartOnly(without, running).config.webhooks).toEqual(running.webhooks)
})

test('auth stays on although the new file turns it off', async () => {
  const running = await loadValid(everything)
  const { config, ignored } = keepRestartOnly(running, await loadValid('log_format = "json"'))
  expect(config.auth.enabled).toBe(true)
  expect(ignored).toContain('auth.enabled')
})

test('the number of workers keeps its running value, and is named', async () => {
  const [running, candidate] = [await loadValid(''), await loadValid('server.workers = 2')]
  const { config, ignored } = keepRestartOnly(running, candidate)
  expect(ignored).toEqual(['server.workers'])
  expect(config.server.workers).toBe(1)
})
