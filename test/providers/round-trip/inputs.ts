import type { Input } from './vendor.ts'

export interface TurnInputs {
  readonly calls: readonly string[]
  readonly results: readonly { readonly id: string; readonly input: Input }[]
  readonly said: readonly string[]
}

/** Sorts results in the order of the calls directly before them. */
export function inputsInOrder(turns: readonly TurnInputs[]): Input[] {
  return turns.flatMap(({ results, said }, at) => {
    const calls = turns[at - 1]?.calls ?? []
    const found = [...results].sort((a, b) => calls.indexOf(a.id) - calls.indexOf(b.id))
    // A result without a call, or a call without a result, makes the lists differ.
    const matched = found.filter(({ id }) => calls.includes(id))
    return [
      ...matched.map(({ input }) => input),
      ...said.map((one) => ({ text: one, png: undefined, hasFailed: false })),
    ]
  })
}
