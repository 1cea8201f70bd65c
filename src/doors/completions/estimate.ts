import type { OutputEstimate } from '../../core/chat.ts'
import { estimateTextTokens } from '../../tokens/index.ts'
import { countUtf8Bytes } from '../../wire/utf8.ts'
import type { CompletionHead } from './fields.ts'
import type { Prompts } from './prompts.ts'

/** The size of the prompts of one request. */
export interface PromptSize {
  readonly count: number
  /** The UTF-8 bytes of those that are texts. */
  readonly texts: readonly number[]
  /** The number of token ids in the others. */
  readonly tokenIds: number
  /** The UTF-8 bytes of the suffix. */
  readonly suffix: number
}

export function measurePrompts({ count, texts, tokenIds }: Prompts, suffix = ''): PromptSize {
  return { count, texts: texts.map(countUtf8Bytes), tokenIds, suffix: countUtf8Bytes(suffix) }
}

/** A token id counts as one token, and the suffix counts for each prompt. */
export function estimatePrompt({ count, texts, tokenIds, suffix }: PromptSize): number {
  const suffixTokens = estimateTextTokens(suffix) * count
  return texts.reduce((sum, bytes) => sum + estimateTextTokens(bytes), tokenIds + suffixTokens)
}

/** Takes the largest bound, because upstreams differ in which one they read. */
export function estimateOutput(head: CompletionHead, promptCount: number): OutputEstimate {
  const { max_tokens, max_completion_tokens, max_output_tokens, n, best_of } = head
  const bounds = [max_tokens, max_completion_tokens, max_output_tokens].flatMap((max) => max ?? [])
  return {
    maxTokens: Math.max(0, ...bounds),
    isBounded: bounds.length > 0,
    // The upstream generates and bills every try, and returns the best ones.
    choices: Math.max(n ?? 1, best_of ?? 1) * promptCount,
  }
}
