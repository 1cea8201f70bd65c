import { type Api } from '../core/capability.ts'
import { toUsd } from '../core/money.ts'
import type { RequestRecord } from '../core/request-record.ts'
import type { SpanAttributes } from '../core/traces.ts'
import type { Usage } from '../core/usage.ts'
import type { TracedRequest } from './trace.ts'

/*
 * The attributes of a request, by the conventions of OpenTelemetry for HTTP servers and for generative AI.
 * They are ids, counts and codes, never content, headers or keys.
 * https://opentelemetry.io/docs/specs/semconv/http/http-spans/
 * https://github.com/open-telemetry/semantic-conventions-genai
 */

/** The value of `gen_ai.operation.name`. The conventions have none for rerank and decisions. */
export const operationOf = {
  chat: 'chat',
  messages: 'chat',
  responses: 'chat',
  completions: 'text_completion',
  gemini: 'generate_content',
  embeddings: 'embeddings',
  rerank: 'rerank',
  decisions: 'decisions',
} as const satisfies Record<Api, string>

/** Returns the attributes that are known when a request arrives. */
export function describeRequest({ request, id, api, route }: TracedRequest): SpanAttributes {
  const { protocol, pathname } = new URL(request.url)
  return {
    'http.request.method': request.method,
    'http.route': route,
    'url.path': pathname,
    'url.scheme': protocol.slice(0, -1),
    'gen_ai.operation.name': operationOf[api],
    'gateway.api': api,
    'gateway.request_id': id,
  }
}

/** Returns the attributes that are known when a request has ended. */
export function describeRequestEnd(record: RequestRecord): SpanAttributes {
  const { model, served, errorCode, timeToFirstToken, usage } = record
  const provider = served?.provider ?? record.lastCalled?.provider
  return {
    'http.response.status_code': findSentStatus(record),
    'error.type': errorCode,
    'gen_ai.provider.name': provider && (provider.kind.vendorName ?? provider.kind.name),
    'gen_ai.request.model': model?.id,
    'gen_ai.response.model': served?.id,
    'gen_ai.request.stream': record.stream || undefined,
    'gen_ai.response.time_to_first_chunk': timeToFirstToken && timeToFirstToken / 1000,
    // A hit used no tokens, so a sum over spans must not count them again.
    ...(!record.cacheHit && usage && describeUsage(usage)),
    'gateway.provider': provider?.name,
    'gateway.key_id': record.keyId,
    'gateway.attempts': record.attempts,
    'gateway.cache_hit': record.cacheHit || undefined,
    'gateway.cost_usd': usage && hasPrice(record) ? toUsd(record.cost) : undefined,
    'gateway.search_units': record.searchUnits,
  }
}

function hasPrice({ served, charged }: RequestRecord): boolean {
  return served?.hasPrice === true || charged?.some(({ link }) => link.hasPrice) === true
}

function describeUsage(usage: Usage): SpanAttributes {
  return {
    'gen_ai.usage.input_tokens': usage.promptTokens,
    'gen_ai.usage.output_tokens': usage.completionTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cachedTokens,
    'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
    'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens,
    'gateway.usage_estimated': usage.estimated || undefined,
  }
}

/** The status line that the client got: of a stream 200 even if it failed, none if the client left. */
function findSentStatus({ status, timeToFirstToken }: RequestRecord): number | undefined {
  if (timeToFirstToken !== undefined) return 200
  return status === clientClosed ? undefined : status
}

/** A status that no client gets. */
const clientClosed = 499

/** True when a request failed, and not because of the client. */
export function isServerError({ status }: Pick<RequestRecord, 'status'>): boolean {
  return status >= 500
}
