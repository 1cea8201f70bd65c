import type { Input } from './vendor.ts'

export interface TurnInputs {
  readonly calls: readonly string[]
  readonly results: readonly { readonly id: string; readonly input: Input }[]
  readonly said: readonly string[]
}

/** Results in the order of the calls that stand right before them. */
export function inputsInOrder(turns: readonly TurnInputs[]): Input[] {
  return turns.flatMap(({ results, said }, at) => {
    const calls = turns[at - 1]?.calls ?? []
    const found = [...results].sort((a, b) => calls.indexOf(a.id) - calls.indexOf(b.id))
    // A result that answers no call, or a call without one, makes the lists differ.
    const matched = found.filter(({ id }) => calls.includes(id))
    return [
      ...matched.map(({ input }) => input),
      ...said.map((one) => ({ text: one, png: undefined })),
    ]
  })
}
