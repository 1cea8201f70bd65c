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

/** Members that only some upstreams take, by the fields of the profile that say so. */
const optional: Readonly<Record<string, 'promptCacheKey' | 'serviceTier' | 'verbosity'>> = {
  prompt_cache_key: 'promptCacheKey',
  service_tier: 'serviceTier',
  verbosity: 'verbosity',
}

/** True where leaving a member out changes no answer: its value is the default. */
function isNoLoss(name: string, value: unknown): boolean {
  if (name === 'prompt_cache_key') return true
  if (name === 'verbosity') return value === 'medium'
  return name === 'service_tier' && (value === 'auto' || value === 'default')
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
    const field = optional[name]
    return field === undefined ? !refused.has(name) : profile[field]
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
    dropped: given
      .filter(([name, value]) => !isTaken(name) && !isNoLoss(name, value))
      .map(([name]) => name),
  }
}
