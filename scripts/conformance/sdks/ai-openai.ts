/** The AI SDK with its OpenAI provider: once as it comes, once with `store: false`. */
import { createOpenAI } from '@ai-sdk/openai'
import { toChecks } from './ai-sdk.ts'
import { runChecks } from './checks.ts'

await runChecks(({ address, key, model }) => {
  const provider = createOpenAI({ baseURL: `${address}/v1`, apiKey: key })
  const reasoning = { forceReasoning: true, reasoningEffort: 'high', reasoningSummary: 'auto' }
  const checks = (options: { store?: boolean }) =>
    toChecks({
      model: (scenario) => provider(model(scenario)),
      options: { openai: options },
      reasoningOptions: { openai: { ...options, ...reasoning } },
    })
  const stateless = Object.entries(checks({ store: false }))
  return {
    ...checks({}),
    ...Object.fromEntries(stateless.map(([name, check]) => [`${name}, store: false`, check])),
  }
})
