import type * as z from 'zod'
import { clientAnswers } from './client.ts'
import { keysAnswers } from './keys.ts'
import { statusAnswers } from './status.ts'
import { usageAnswers } from './usage.ts'

/**
 * The schemas of all answers in JSON, by their name in the document. Answers of vendors may have more fields than
 * these schemas; answers of the gateway have exactly these.
 */
export const answerSchemas = {
  ...clientAnswers,
  ...statusAnswers,
  ...keysAnswers,
  ...usageAnswers,
} satisfies Record<string, z.ZodType>
