import * as z from 'zod'
import { loose } from '../../core/as-sent.ts'

const count = z.int().positive().nullish()

/** 0 is allowed with `echo`, which returns only the prompt. */
const bound = z.int().nonnegative().nullish()

const head = {
  model: z.string().min(1),
  stream: z.boolean().nullish(),
  stream_options: loose({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: bound,
  max_completion_tokens: bound,
  max_output_tokens: bound,
  n: count,
  best_of: count,
}

/** The fields of a completion request that the gateway reads, except for the prompt. */
export const completionRequest = loose({ ...head, suffix: z.string().nullish() })

/** The same without those that may be long. */
export const completionHead = loose(head)

export type CompletionFields = z.infer<typeof completionRequest>
export type CompletionHead = z.infer<typeof completionHead>
