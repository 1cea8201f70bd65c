import { type ChatRequest, findOutputBound } from '../../../core/chat.ts'
import type { Profile } from '../../../core/profile.ts'
import type { JsonObject } from './message.ts'

/** The members that other files of this folder write. */
const writtenElsewhere: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'thinking',
  'reasoning_effort',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
])

/** Members that some upstreams take, and others refuse. Leaving them out changes no answer. */
const hints: Readonly<Record<string, 'promptCacheKey' | 'serviceTier'>> = {
  prompt_cache_key: 'promptCacheKey',
  service_tier: 'serviceTier',
}

/** Returns the other members of a request that the upstream takes, and the names of those that it does not. */
export function writeParameters(
  request: ChatRequest,
  { profile, isThinking }: { readonly profile: Profile; readonly isThinking: boolean },
): { readonly fields: JsonObject; readonly dropped: readonly string[] } {
  const refused = new Set([
    ...profile.dropParameters,
    ...(isThinking ? profile.dropParametersThinking : []),
  ])
  const isTaken = (name: string) => {
    const hint = hints[name]
    return hint === undefined ? !refused.has(name) : profile[hint]
  }
  const given = Object.entries(request).filter(
    ([name, value]) => !writtenElsewhere.has(name) && value !== undefined && value !== null,
  )
  const bound = findOutputBound(request)
  return {
    fields: {
      ...Object.fromEntries(
        given
          .filter(([name]) => isTaken(name))
          .map(([name, value]) => [profile.renamedParameters[name] ?? name, value]),
      ),
      ...(bound !== undefined && { [profile.boundField]: bound }),
    },
    dropped: given.map(([name]) => name).filter((name) => !isTaken(name)),
  }
}
