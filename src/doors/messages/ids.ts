/** Creates the id of an answer. */
export function newMessageId(): string {
  return `msg_${newHex()}`
}

/** Gives tool calls ids in the alphabet of the API, `^[a-zA-Z0-9_-]+$`, each once in an answer. */
export class ToolIds {
  readonly #taken = new Set<string>()

  /** Returns the vendor's id where it is usable, since it comes back with the result of the call. */
  assign(id: string): string {
    const plain = id === '' ? `toolu_${newHex()}` : id.replace(/[^a-zA-Z0-9_-]/g, '_')
    let unique = plain
    for (let copy = 2; this.#taken.has(unique); copy++) unique = `${plain}_${copy}`
    this.#taken.add(unique)
    return unique
  }
}

function newHex(): string {
  return crypto.randomUUID().replaceAll('-', '').slice(0, 24)
}
