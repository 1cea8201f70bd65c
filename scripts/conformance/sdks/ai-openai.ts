/** The AI SDK with its OpenAI provider. By default it relies on the state of the Responses API. */
import { toOpenAIChecks } from './ai-openai-checks.ts'
import { runChecks } from './checks.ts'

await runChecks((target) => toOpenAIChecks(target, {}))
