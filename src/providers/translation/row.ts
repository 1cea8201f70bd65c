import type { Cell } from './cell.ts'
import type { AnthropicCondition, BedrockCondition, GeminiCondition } from './conditions.ts'

/** What becomes of one thing in each API that requests are translated for. */
export interface Row {
  readonly anthropic: Cell<AnthropicCondition>
  /** The kinds `google` and `vertex_ai`. */
  readonly gemini: Cell<GeminiCondition>
  readonly bedrock: Cell<BedrockCondition>
  readonly cohere: Cell<never>
}

export type Family = keyof Row

/** Rows by what a client may ask for, in the words of the documentation and of errors. */
export type Rows = Readonly<Record<string, Row>>

/** The same in every API. */
export function everywhere(cell: Cell<never>): Row {
  return { anthropic: cell, gemini: cell, bedrock: cell, cohere: cell }
}
