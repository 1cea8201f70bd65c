const encoder = new TextEncoder()

/** Texts are encoded in pieces of about this many characters. */
const pieceLength = 64 * 1024

/** Encodes a long text bit by bit, so that no step takes long. */
export class EncodedPieces {
  readonly #pieces: Uint8Array[] = []
  #text = ''

  add(text: string): void {
    this.#text += text
    if (this.#text.length >= pieceLength) this.#encode()
  }

  /** Returns all pieces, at the end of the text. */
  end(): readonly Uint8Array[] {
    this.#encode()
    return this.#pieces
  }

  #encode(): void {
    if (this.#text !== '') this.#pieces.push(encoder.encode(this.#text))
    this.#text = ''
  }
}
