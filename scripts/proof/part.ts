/** A scenario that runs alone: `npm run proof -- NAME`. */
export interface Part {
  readonly name: string
  readonly title: string
  /** What happens, and what must hold then: a paragraph of Markdown. */
  readonly text: string
  run(options: PartOptions): Promise<Outcome>
}

export interface PartOptions {
  /** Returns a number from 0 up to 1, from the seed of the run. */
  readonly random: () => number
  /** How many times something is killed or fails. */
  readonly rounds: number
  progress(message: string): void
}

/** A part cannot run on every machine. */
export type Outcome = { readonly skipped: string } | { readonly figures: readonly Figure[] }

export interface Figure {
  readonly title: string
  readonly value: number | string
  /** Whether the value is as it must be; absent for a figure that only informs. */
  readonly holds?: boolean
}

/** A figure that must be 0. */
export function zero(title: string, value: number): Figure {
  return { title, value, holds: value === 0 }
}
