const encoder = new TextEncoder()

/** Room for dozens of short frames. Allocating an array costs more than filling a part of one. */
const slabBytes = 8 * 1024

/** A UTF-16 code unit takes at most three bytes in UTF-8. */
const maxBytesPerUnit = 3

/**
 * Encodes short texts one after another into shared memory, of which no byte is written twice.
 * Consecutive texts are adjacent, so they can be sent to the client as one piece without a copy.
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
