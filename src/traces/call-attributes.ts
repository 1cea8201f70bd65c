import type { Api } from '../core/capability.ts'
import type { UpstreamFailure } from '../core/failure.ts'
import { findErrorCode, isLocalEnd } from '../core/failure-reason.ts'
import type { Millis } from '../core/ids.ts'
import type { Model } from '../core/provider.ts'
import type { SpanAttributes, SpanEnd } from '../core/traces.ts'
import { operationOf } from './request-attributes.ts'
import type { TracedCall } from './trace.ts'

/** Returns the name of the span of a call: the operation and the vendor's name of the model. */
export function nameCall(api: Api, link: Model): string {
  return `${operationOf[api]} ${link.upstreamId}`
}

/** Returns the attributes that are known when an upstream call begins. */
export function describeCall({ api, link, resends }: TracedCall & { api: Api }): SpanAttributes {
  const { kind, name } = link.provider
  return {
    'http.request.method': 'POST',
    'http.request.resend_count': resends || undefined,
    'gen_ai.operation.name': operationOf[api],
    'gen_ai.provider.name': kind.vendorName ?? kind.name,
    'gen_ai.request.model': link.upstreamId,
    'gateway.model': link.id,
    'gateway.provider': name,
  }
}

/** What is known of an upstream call that has ended. */
export interface EndedCall {
  /** Undefined when nothing was sent. */
  readonly url: string | undefined
  /** Undefined when the upstream did not answer. */
  readonly status: number | undefined
  /** From the call to the first content of its stream. */
  readonly timeToFirstChunk: Millis | undefined
  /** The request was sent twice, because the first connection was lost at once. */
  readonly isResent: boolean
  readonly failure: UpstreamFailure | undefined
}

/** Returns the end of the span of a call. A call that the client or the gateway ended is not an error. */
export function describeCallEnd(call: EndedCall): SpanEnd {
  const { url, status, timeToFirstChunk, isResent, failure } = call
  const attributes = {
    ...(url !== undefined && describeServer(url)),
    'http.response.status_code': status,
    'gen_ai.response.time_to_first_chunk': timeToFirstChunk && timeToFirstChunk / 1000,
    'error.type': failure && nameFailure(failure),
    'gateway.timeout': failure?.kind === 'timeout' ? failure.limit : undefined,
    'gateway.resent': isResent || undefined,
  }
  return { attributes, isError: failure !== undefined && !isLocalEnd(failure) }
}

function describeServer(url: string): SpanAttributes {
  const { hostname, port, protocol } = new URL(url)
  const byDefault = protocol === 'https:' ? 443 : 80
  return { 'server.address': hostname, 'server.port': port === '' ? byDefault : Number(port) }
}

/** The status, the code of the network error, or the kind of the failure. */
function nameFailure(failure: UpstreamFailure): string {
  if (failure.kind === 'status') return String(failure.status)
  if (failure.kind === 'network') return findErrorCode(failure) ?? failure.kind
  return failure.kind
}
