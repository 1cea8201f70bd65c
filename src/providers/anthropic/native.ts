import type { DialectRequest, NativeCall, NativeEndpoint } from '../../core/endpoints.ts'
import { isCount } from '../../core/usage.ts'
import { isObject, tryParseJson } from '../../wire/json/parse.ts'
import { replaceEach, splice } from '../../wire/json/splice.ts'
import { createErrorParser } from '../base/vendor-error.ts'
import { isClaude } from '../claude/models.ts'
import { writeMessageEvents } from './answer-events.ts'
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
  /** The header for the secret, where the kind sends it in another way. */
  readonly keyHeader?: string
}

/** The Messages API for clients that speak it too: bytes pass as they are, except for `model`. */
export function bindMessages(target: NativeTarget): NativeEndpoint {
  const model = encoder.encode(JSON.stringify(target.upstreamId))
  const countUrl = appendPath(target.url, '/count_tokens')
  const buildFor = (call: NativeCall, url: string): DialectRequest => ({
    url: addQuery(url, call.query),
    // The client decides about the version and the features of the API.
    headers: { 'anthropic-version': apiVersion, ...call.headers },
    body: splice(call.bytes, replaceEach(call.layout.spans.model, model)),
    keyHeader: target.keyHeader,
  })
  return {
    buildRequest: (call) => buildFor(call, target.url),
    parseAnswer: readNativeAnswer,
    createDecoder: () => new NativeStream(),
    writeEvents: writeMessageEvents,
    parseError: createErrorParser(),
    streamEnd: 'terminator',
    // Compatible servers serve models that do not sign.
    refusesUnsigned: isClaude(target.upstreamId),
    counting: {
      members: countMembers,
      buildRequest: (call) => buildFor(call, countUrl),
      isCount: (body) => {
        const value = tryParseJson(body)
        return isObject(value) && isCount(value['input_tokens'])
      },
    },
  }
}

/** https://platform.claude.com/docs/en/api/messages/count_tokens */
const countMembers: ReadonlySet<string> = new Set([
  'cache_control',
  'context_management',
  'mcp_servers',
  'output_config',
  'thinking',
  'tool_choice',
])

const encoder = new TextEncoder()

function appendPath(address: string, path: string): string {
  const url = new URL(address)
  url.pathname = url.pathname.replace(/\/+$/, '') + path
  return url.href
}

function addQuery(url: string, query: string): string {
  return url.includes('?') ? `${url}${query.replace('?', '&')}` : `${url}${query}`
}
