import type {
  DialectRequest,
  NativeCall,
  NativeEndpoint,
  RequestHeaders,
} from '../../core/provider.ts'
import { splice } from '../../wire/json-splice.ts'
import { createErrorParser } from '../base/vendor-error.ts'
import { readNativeAnswer } from './native-answer.ts'
import { NativeStream } from './native-stream.ts'

/**
 * Pinned: the next version, 2026-10-21, rejects `temperature`, `top_p` and `top_k` on every model, and many
 * clients send them.
 * https://platform.claude.com/docs/en/api/versioning
 */
export const apiVersion = '2023-06-01'

export interface NativeTarget {
  /** The full address of the endpoint. */
  readonly url: string
  readonly upstreamId: string
}

/** The Messages API for clients that speak it too: bytes pass as they are, except for `model`. */
export function bindMessages({ url, upstreamId }: NativeTarget): NativeEndpoint {
  const model = encoder.encode(JSON.stringify(upstreamId))
  return {
    buildRequest: (call) => buildRequest(call, url, model),
    parseAnswer: readNativeAnswer,
    createDecoder: () => new NativeStream(),
    parseError: createErrorParser(),
    isDoneOptional: false,
  }
}

const encoder = new TextEncoder()

function buildRequest(call: NativeCall, url: string, model: Uint8Array): DialectRequest {
  const { bytes, layout, headers, query } = call
  return {
    url: addQuery(url, query),
    headers: toHeaders(headers),
    body: splice(
      bytes,
      layout.spans.model.map((span) => ({ span, json: model })),
    ),
  }
}

/** The client decides about the version and the features of the API. */
function toHeaders(headers: RequestHeaders): RequestHeaders {
  return { 'anthropic-version': apiVersion, ...headers }
}

function addQuery(url: string, query: string): string {
  return url.includes('?') ? `${url}${query.replace('?', '&')}` : `${url}${query}`
}
