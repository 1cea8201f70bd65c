import type { OpenAiRequest } from './request.ts'
import { isObject } from './usage.ts'

/** Values that ask for what happens anyway, so that dropping them changes nothing. */
const neutral: Readonly<Record<string, (value: unknown) => boolean>> = {
  n: (value) => value === 1,
  logprobs: (value) => value === false,
  top_logprobs: (value) => value === 0,
  frequency_penalty: (value) => value === 0,
  presence_penalty: (value) => value === 0,
  logit_bias: (value) => isObject(value) && Object.keys(value).length === 0,
  parallel_tool_calls: (value) => value === true,
  modalities: (value) => Array.isArray(value) && value.every((item) => item === 'text'),
  store: (value) => value === false,
  service_tier: (value) => value === 'auto',
  verbosity: (value) => value === 'medium',
  response_format: (value) => isObject(value) && value['type'] === 'text',
}

/**
 * Which of these top-level fields a request really uses: present, not null, not neutral. A kind
 * that honours none of them names the result as unsupported.
 */
export function fieldsInUse({ raw }: OpenAiRequest, names: readonly string[]): string[] {
  return names.filter((name) => {
    const value = raw[name]
    return value !== undefined && value !== null && !neutral[name]?.(value)
  })
}
