/** The price of a token of the prompt, in nano-dollars. */
export const inputNano = 10_000
/** The price of a token of the answer. */
export const outputNano = 1_000_000
/** The bound that every request sets on its answer, in tokens. */
export const maxTokens = 40

export function costOf(promptTokens: number, completionTokens: number): number {
  return promptTokens * inputNano + completionTokens * outputNano
}
