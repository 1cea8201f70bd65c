import { type Dialect, upstreamKey } from '../dialect.ts'
import { openai } from '../openai/dialect.ts'
import { Refusal } from '../refusal.ts'
import { decideAsOpenAi } from './openai.ts'

/** OpenAI's form at Azure: https://learn.microsoft.com/azure/ai-foundry/openai/latest */
export const azureDecisions: Dialect = {
  handle({ path, headers, body }) {
    if (path !== '/openai/v1/decisions') throw new Refusal(404, `unknown path ${path}`)
    if (headers.get('api-key') !== upstreamKey) throw new Refusal(401, 'invalid subscription key')
    return decideAsOpenAi(body)
  },
  refuse: openai.refuse,
}
