import { createOpenAI } from '@ai-sdk/openai'
import { toChecks } from './ai-sdk.ts'
import type { Checks, Target } from './checks.ts'

/** The checks of the AI SDK with its OpenAI provider, which uses the Responses API. */
export function toOpenAIChecks(target: Target, options: { readonly store?: boolean }): Checks {
  const { address, key, model } = target
  const provider = createOpenAI({ baseURL: `${address}/v1`, apiKey: key })
  // The provider does not know that the models reason.
  const reasoning = { forceReasoning: true, reasoningEffort: 'high', reasoningSummary: 'auto' }
  return toChecks({
    model: (scenario) => provider(model(scenario)),
    options: { openai: options },
    reasoningOptions: { openai: { ...options, ...reasoning } },
    isStateless: options.store === false,
    target,
  })
}
