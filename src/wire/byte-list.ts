const none = new Uint8Array(0)

/** Pieces under this many bytes are copied into a slab: a separate tiny array costs about 100 bytes. */
const slabBytes = 4 * 1024
/** Up to this number of pieces, none is copied. */
const maxUncopiedPieces = 16

/**
 * A list of byte pieces that takes about as much memory as their total length, however small they are.
 * Without slabs, and with one event per blank line, 8 MB of line ends took 630 MB; `npm run soak`
 * streams blank lines.
 */
export class ByteList {
  #pieces: Uint8Array[] = []
  #length = 0
  /** The memory of the last piece, and the number of bytes used in it. */
  #slab: Uint8Array = none
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
   * Removes and joins the next pieces, up to `maxBytes` bytes in total but at least one piece. Returns an
   * empty array when the list is empty. A single piece is not copied.
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

  /** Removes all pieces and returns them as one array. */
  takeAll(): Uint8Array {
    return this.#remove(this.#pieces.length, this.#length)
  }

  clear(): void {
    this.#pieces = []
    this.#length = 0
    this.#slab = none
    this.#used = 0
  }

  /** Appends to the slab as many bytes as fit, and returns the rest. */
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

/** Joins pieces. A caller that knows their total length in bytes passes it. */
export function concat(
  pieces: readonly Uint8Array[],
  length = pieces.reduce((sum, piece) => sum + piece.length, 0),
): Uint8Array {
  const whole = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
