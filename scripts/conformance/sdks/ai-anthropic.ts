/** The AI SDK with its Anthropic provider. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { toChecks } from './ai-sdk.ts'
import { runChecks } from './checks.ts'

await runChecks((target) => {
  const { address, key, model } = target
  const provider = createAnthropic({ baseURL: `${address}/v1`, apiKey: key })
  return toChecks({
    model: (scenario) => provider(model(scenario)),
    options: {},
    isStateless: true,
    target,
    reasoningOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 4096 } } },
  })
})
