/** What one piece of a content has of reasoning and of text. */
export interface TaggedPiece {
  readonly reasoning: string
  readonly text: string
  /** The white space behind the closing tag, once; it is not part of the text. */
  readonly gap: string | undefined
}

const openTag = '<think>'
const closeTag = '</think>'

/**
 * Takes a leading `<think>` block out of a content that arrives in pieces. The tags may be split; blanks before
 * the opening tag and behind the closing one are not text.
 */
export class ThinkTags {
  #state: 'start' | 'thinking' | 'gap' | 'text' = 'start'
  /** What may be the beginning of a tag, or blanks that may be before one. */
  #held = ''
  #gap = ''

  push(piece: string): TaggedPiece {
    this.#held += piece
    let reasoning = ''
    if (this.#state === 'start') this.#readStart()
    if (this.#state === 'thinking') reasoning = this.#readThinking()
    const gap = this.#state === 'gap' ? this.#readGap() : undefined
    const text = this.#state === 'text' ? this.#release() : ''
    return { reasoning, text, gap }
  }

  /** Returns what is held when nothing follows. */
  end(): TaggedPiece {
    const held = this.#release()
    const isReasoning = this.#state === 'thinking'
    const gap = this.#state === 'gap' ? this.#gap : undefined
    return { reasoning: isReasoning ? held : '', text: isReasoning ? '' : held, gap }
  }

  #readStart(): void {
    const trimmed = this.#held.trimStart()
    if (trimmed.startsWith(openTag)) {
      this.#held = trimmed.slice(openTag.length)
      this.#state = 'thinking'
    } else if (!openTag.startsWith(trimmed)) {
      this.#state = 'text'
    }
  }

  #readThinking(): string {
    const end = this.#held.indexOf(closeTag)
    if (end >= 0) {
      const reasoning = this.#held.slice(0, end)
      this.#held = this.#held.slice(end + closeTag.length)
      this.#state = 'gap'
      return reasoning
    }
    const kept = countTagStart(this.#held)
    const reasoning = this.#held.slice(0, this.#held.length - kept)
    this.#held = this.#held.slice(this.#held.length - kept)
    return reasoning
  }

  /** Returns the blanks when the text begins. */
  #readGap(): string | undefined {
    const rest = this.#held.trimStart()
    this.#gap += this.#held.slice(0, this.#held.length - rest.length)
    this.#held = rest
    if (rest === '') return undefined
    this.#state = 'text'
    return this.#gap
  }

  #release(): string {
    const held = this.#held
    this.#held = ''
    return held
  }
}

/** Returns how many characters at the end of a text may begin the closing tag. */
function countTagStart(text: string): number {
  for (let length = Math.min(closeTag.length - 1, text.length); length > 0; length--) {
    if (closeTag.startsWith(text.slice(-length))) return length
  }
  return 0
}
