/** Gives one holder at a time a turn, in the order of their requests. */
export class Turns<Holder> {
  readonly #waiting: { readonly holder: Holder; readonly grant: () => void }[] = []
  #current: Holder | undefined

  /** Resolves when the holder has the turn. */
  take(holder: Holder): Promise<void> {
    return new Promise((grant) => {
      this.#waiting.push({ holder, grant })
      this.#next()
    })
  }

  /** Ends the turn of a holder. */
  end(holder: Holder): void {
    if (this.#current !== holder) return
    this.#current = undefined
    this.#next()
  }

  /** Ends the turn of a holder that is gone, and forgets its requests. */
  leave(holder: Holder): void {
    const others = this.#waiting.filter((each) => each.holder !== holder)
    this.#waiting.splice(0, this.#waiting.length, ...others)
    this.end(holder)
  }

  #next(): void {
    if (this.#current !== undefined) return
    const next = this.#waiting.shift()
    this.#current = next?.holder
    next?.grant()
  }
}
