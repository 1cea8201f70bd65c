import type { SharedHold } from './hold.ts'

/** The admitted requests of this process that have not ended. */
export class OpenHolds {
  readonly #holds = new Map<string, SharedHold>()
  /** Those that the server has or had: it is asked to end only these. */
  readonly #known = new Set<string>()
  /** Those that the server is asked for: it may have them already. */
  readonly #asked = new Set<string>()

  /** Notes that the server is asked for a hold, until `answer` is called. */
  ask(id: string): void {
    this.#asked.add(id)
  }

  answer(id: string): void {
    this.#asked.delete(id)
  }

  /** Whether the server may have the hold. */
  has(id: string): boolean {
    return this.#holds.has(id) || this.#asked.has(id)
  }

  add(hold: SharedHold): void {
    this.#holds.set(hold.id, hold)
  }

  /** Notes that the server has a hold, or will get it. */
  know(id: string): void {
    this.#known.add(id)
  }

  get(id: string): SharedHold | undefined {
    return this.#holds.get(id)
  }

  ids(): string[] {
    return [...this.#holds.keys()]
  }

  /** Returns whether the server has or had the hold. */
  end(id: string): boolean {
    this.#holds.delete(id)
    return this.#known.delete(id)
  }
}
