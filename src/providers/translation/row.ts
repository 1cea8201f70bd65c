import type { TranslationCell } from './cell.ts'
import type { AnthropicCondition, BedrockCondition, GeminiCondition } from './conditions.ts'

/** What becomes of one thing in each API that requests are translated for. */
export interface TranslationRow {
  readonly anthropic: TranslationCell<AnthropicCondition>
  /** The kinds `google` and `vertex_ai`. */
  readonly gemini: TranslationCell<GeminiCondition>
  readonly bedrock: TranslationCell<BedrockCondition>
  readonly cohere: TranslationCell<never>
}

export type ApiFamily = keyof TranslationRow

/** Rows by what a client may ask for, in the words of the documentation and of errors. */
export type TranslationRows = Readonly<Record<string, TranslationRow>>

/** The same in every API. */
export function inEveryApi(cell: TranslationCell<never>): TranslationRow {
  return { anthropic: cell, gemini: cell, bedrock: cell, cohere: cell }
}
