import type { SharedHold } from './hold.ts'

/** The admitted requests of this process that have not ended. */
export class OpenHolds {
  readonly #holds = new Map<string, SharedHold>()
  /** Those that the server has or had: it is asked to end only these. */
  readonly #known = new Set<string>()

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
