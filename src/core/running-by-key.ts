import { GatewayError } from './errors.ts'

export interface RunningByKeyOptions {
  /** How many may run at once for a key. */
  readonly max: number
  /** What they are, for the message: `counts`. */
  readonly name: string
}

/** Requests that cost nothing and no limit counts, of which each key may run a number at once. */
export class RunningByKey {
  readonly #options: RunningByKeyOptions
  readonly #counts = new Map<string, number>()

  constructor(options: RunningByKeyOptions) {
    this.#options = options
  }

  /**
   * Takes a place, or throws LM-4006. Returns the function that gives it back, to be called once. Without auth there
   * are no keys, and no limit.
   */
  enter(key: string | undefined): () => void {
    if (key === undefined) return () => {}
    const { max, name } = this.#options
    const before = this.#counts.get(key) ?? 0
    if (before >= max) {
      const message = `at most ${max} ${name} run at once for a key`
      throw new GatewayError('LM-4006', message, { retryAfter: 1_000, fields: { scope: 'key' } })
    }
    this.#counts.set(key, before + 1)
    return () => {
      const left = (this.#counts.get(key) ?? 1) - 1
      if (left === 0) this.#counts.delete(key)
      else this.#counts.set(key, left)
    }
  }
}
