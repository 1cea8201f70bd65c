import * as z from 'zod'
import { auditActions } from '../../../src/core/audit.ts'
import { vendorTools } from '../../../src/core/billing.ts'
import { apis, capabilities } from '../../../src/core/capability.ts'
import { costSources, usageGroupings, usageIntervals } from '../../../src/store/index.ts'
import { code, count, requestId, text, time, usd } from './values.ts'

const window = { since: time, until: time }
const cursor = count.nullable().describe('For the next page; null after the last row.')

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

/** The answers about requests, usage and changes. */
export const usageAnswers = {
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
}
