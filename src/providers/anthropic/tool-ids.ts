/**
 * Ids of tool calls in the vendor's alphabet, each used once, although other vendors write
 * `functions.look:0` and some clients count from 0 in every turn.
 */
export class ToolIds {
  readonly #latest = new Map<string, string>()
  readonly #taken = new Set<string>()
  readonly #copies = new Map<string, number>()

  /** The id of a call. */
  opened(id: string): string {
    const plain = plainId(id)
    let copies = this.#copies.get(plain) ?? 0
    let unique = plain
    while (this.#taken.has(unique)) unique = `${plain}_${++copies + 1}`
    this.#copies.set(plain, copies)
    this.#taken.add(unique)
    this.#latest.set(id, unique)
    return unique
  }

  /** The id of the call that a result answers: the latest one that the client calls so. */
  answered(id: string): string {
    return this.#latest.get(id) ?? plainId(id)
  }
}

function plainId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, '_')
}
