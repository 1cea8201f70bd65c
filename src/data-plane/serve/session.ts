import type { NamedSession, RouteAffinity } from '../../core/affinity.ts'
import type { CacheLife } from '../../core/layout.ts'

/** The headers that name the session of a request: the first one counts. */
const sessionHeaders = [
  'x-gateway-session',
  // https://docs.claude.com/en/docs/claude-code/llm-gateway
  'x-claude-code-session-id',
  // Codex has sent both: https://github.com/openai/codex
  'session_id',
  'session-id',
  'x-session-id',
  // https://github.com/sst/opencode
  'x-session-affinity',
] as const

/** What a body says of the session that its request belongs to. */
export interface SessionCall {
  readonly session: string | undefined
  /** The beginning of the prompt, for routes that pin requests without a session by it. */
  readonly prefix: string | undefined
  readonly cacheLife: CacheLife
}

interface SessionSource {
  readonly call: SessionCall
  readonly affinity: RouteAffinity
}

/** Finds the session of a request in its headers, then in its body; then in the beginning of its prompt. */
export function nameSession(
  headers: Pick<Headers, 'get'>,
  { call, affinity }: SessionSource,
): NamedSession | undefined {
  const name = findHeader(headers) ?? call.session
  if (name) return { kind: 'session', name, keepsLong: call.cacheLife === '1h' }
  const prefix = affinity.byPrefix ? call.prefix : undefined
  return prefix ? { kind: 'prefix', name: prefix, keepsLong: call.cacheLife === '1h' } : undefined
}

function findHeader(headers: Pick<Headers, 'get'>): string | undefined {
  for (const header of sessionHeaders) {
    const value = headers.get(header)
    if (value) return value
  }
  return undefined
}
