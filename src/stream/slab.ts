const encoder = new TextEncoder()

/** Some dozens of short frames: making an array costs more than filling a part of one. */
const slabBytes = 8 * 1024

/** No UTF-16 unit takes more bytes than this. */
const maxBytesPerUnit = 3

/**
 * Encodes short texts one behind the other in memory of its own, which it never writes twice. What
 * was encoded in a row stands side by side, and so goes to the client as one piece without a copy.
 */
export class Slab {
  #bytes = new Uint8Array(0)
  #used = 0

  encode(text: string): Uint8Array {
    const most = text.length * maxBytesPerUnit
    if (most > slabBytes) return encoder.encode(text)
    if (this.#used + most > this.#bytes.length) {
      this.#bytes = new Uint8Array(slabBytes)
      this.#used = 0
    }
    const rest = this.#bytes.subarray(this.#used)
    const { written } = encoder.encodeInto(text, rest)
    this.#used += written
    return rest.subarray(0, written)
  }
}
