/** The AI SDK with its OpenAI provider and `store: false`. */
import { toOpenAIChecks } from './ai-openai-checks.ts'
import { runChecks } from './checks.ts'

await runChecks((target) => toOpenAIChecks(target, { store: false }))
