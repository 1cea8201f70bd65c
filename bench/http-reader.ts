/**
 * A minimal reader of HTTP/1.1 messages for the fake upstream and the load generator: one
 * message at a time, sized or chunked, no trailers. It must cost far less than the proxy between them.
 */
export class HttpReader {
  /** Start line and headers of the latest message. */
  head = ''
  readonly #onBody: (piece: Buffer) => void
  #state: 'head' | 'sized' | 'chunk-size' | 'chunk' | 'last-line' = 'head'
  #pending: Buffer = Buffer.alloc(0)
  /** Remaining bytes of the body or of its current chunk. */
  #remaining = 0
  #digits = 0

  constructor(onBody: (piece: Buffer) => void) {
    this.#onBody = onBody
  }

  /** Reads bytes from the socket. Returns true when the message is complete. */
  push(bytes: Buffer): boolean {
    if (this.#state !== 'head') return this.#body(bytes, 0)
    const all = this.#pending.length > 0 ? Buffer.concat([this.#pending, bytes]) : bytes
    const end = all.indexOf('\r\n\r\n')
    this.#pending = end < 0 ? all : Buffer.alloc(0)
    if (end < 0) return false
    this.head = all.toString('latin1', 0, end)
    const chunked = /\r\ntransfer-encoding: *chunked/i.test(this.head)
    this.#state = chunked ? 'chunk-size' : 'sized'
    this.#remaining = chunked ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(this.head)?.[1] ?? 0)
    return this.#body(all, end + 4)
  }

  #body(bytes: Buffer, start: number): boolean {
    let at = start
    while (at < bytes.length) {
      if (this.#state === 'sized' || this.#state === 'chunk') {
        const piece = bytes.subarray(at, at + this.#remaining)
        this.#onBody(piece)
        this.#remaining -= piece.length
        at += piece.length
        if (this.#remaining > 0) return false
        if (this.#state === 'sized') break
        this.#state = 'chunk-size'
      } else if (this.#framing(bytes[at++])) {
        return this.#complete()
      }
    }
    return this.#state === 'sized' && this.#remaining === 0 ? this.#complete() : false
  }

  /** Reads one byte between chunks. Returns true when it ends the message. */
  #framing(byte = 0): boolean {
    if (byte !== lineFeed) {
      const digit = Number.parseInt(String.fromCharCode(byte), 16)
      if (Number.isNaN(digit)) return false
      this.#remaining = this.#remaining * 16 + digit
      this.#digits++
      return false
    }
    if (this.#state === 'last-line') return true
    // A line without digits is the end of the previous chunk.
    if (this.#digits > 0) this.#state = this.#remaining > 0 ? 'chunk' : 'last-line'
    this.#digits = 0
    return false
  }

  #complete(): boolean {
    this.#state = 'head'
    this.#remaining = 0
    this.#digits = 0
    return true
  }
}

const lineFeed = 0x0a
