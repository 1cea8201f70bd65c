/** Shorter pieces are copied together: by itself, a piece of a few bytes takes a hundred. */
const slabBytes = 4 * 1024
/** As long as there are no more pieces than this, none is copied. */
const maxUncopiedPieces = 16

/** Bytes that come in pieces of any size, in about as much memory as they are long. */
export class ByteList {
  #pieces: Uint8Array[] = []
  #length = 0
  /** Memory that the last piece lies in, and how much of it is taken. */
  #slab = new Uint8Array(0)
  #used = 0

  get length(): number {
    return this.#length
  }

  /** The bytes must not change afterwards. */
  push(bytes: Uint8Array): void {
    this.#length += bytes.length
    if (bytes.length >= slabBytes || this.#pieces.length < maxUncopiedPieces) {
      this.#pieces.push(bytes)
      this.#slab = none
      this.#used = 0
      return
    }
    const rest = this.#fill(bytes)
    if (rest.length === 0) return
    this.#slab = new Uint8Array(slabBytes)
    this.#used = 0
    this.#pieces.push(none)
    this.#fill(rest)
  }

  /**
   * Takes out the next pieces that are together no longer than `maxBytes` bytes, but at least one, as one
   * array; of no bytes when there are none. A single piece is not copied.
   */
  take(maxBytes: number): Uint8Array {
    let count = 0
    let length = 0
    for (const piece of this.#pieces) {
      if (count > 0 && length + piece.length > maxBytes) break
      length += piece.length
      count++
    }
    return this.#remove(count, length)
  }

  /** Takes out everything, as one array. */
  takeAll(): Uint8Array {
    return this.#remove(this.#pieces.length, this.#length)
  }

  clear(): void {
    this.#pieces = []
    this.#length = 0
    this.#slab = none
    this.#used = 0
  }

  /** Adds to the last piece what its memory has room for, and returns the rest. */
  #fill(bytes: Uint8Array): Uint8Array {
    const fits = Math.min(bytes.length, this.#slab.length - this.#used)
    if (fits === 0) return bytes
    this.#slab.set(bytes.subarray(0, fits), this.#used)
    this.#used += fits
    this.#pieces[this.#pieces.length - 1] = this.#slab.subarray(0, this.#used)
    return bytes.subarray(fits)
  }

  #remove(count: number, length: number): Uint8Array {
    const isAll = count === this.#pieces.length
    const taken = isAll ? this.#pieces : this.#pieces.splice(0, count)
    if (isAll) this.clear()
    else this.#length -= length
    const [only = none] = taken
    return taken.length === 1 ? only : concat(taken, length)
  }
}

const none = new Uint8Array(0)

/** One array of all pieces. */
export function concat(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
