import { type ChatRequest, findOutputBound } from '../../../core/chat.ts'
import type { Profile } from '../../../core/profile.ts'
import type { JsonObject } from '../../../wire/json/parse.ts'

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
  if (name === 'n') return value === 1
  return name === 'service_tier' && (value === 'auto' || value === 'default')
}

/** Returns the other members of a request that the upstream takes, and the names of those that it does not. */
export function writeParameters(
  request: ChatRequest,
  { profile, isThinking }: { readonly profile: Profile; readonly isThinking: boolean },
): { readonly fields: JsonObject; readonly dropped: readonly string[] } {
  const { dropParameters, dropParametersThinking, renamedParameters, boundField } = profile
  const isTaken = (name: string) => {
    const field = optional[name]
    if (field !== undefined) return profile[field]
    return !dropParameters.includes(name) && !(isThinking && dropParametersThinking.includes(name))
  }
  const fields: Record<string, unknown> = {}
  const dropped: string[] = []
  for (const name in request) {
    const value = request[name]
    if (value === undefined || value === null || writtenElsewhere.has(name)) continue
    if (isTaken(name)) fields[renamedParameters[name] ?? name] = value
    else if (!isNoLoss(name, value)) dropped.push(name)
  }
  const bound = findOutputBound(request)
  if (bound !== undefined) fields[boundField] = bound
  return { fields, dropped }
}
