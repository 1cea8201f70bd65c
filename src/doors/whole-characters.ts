import type { ChoiceContent } from './choice.ts'

/*
 * Some upstreams cut a stream inside of a character, and write each half of its surrogate pair as an escape: `\ud83e`
 * ends one piece, `\udd86` begins the next. A half alone is no character, and strict parsers, such as that of Codex,
 * refuse JSON that has one.
 */

/** Joins the halves of characters in the pieces of one streamed answer. */
export class WholeCharacters {
  /** The first half of a character that has not ended, by the place of its text. */
  readonly #halves = new Map<string, string>()

  /** Returns what a piece adds in whole characters. A half whose other half does not follow is replaced. */
  read(content: ChoiceContent): ChoiceContent {
    if (this.#halves.size === 0 && !hasHalf(content)) return content
    const isLast = content.finishReason !== undefined
    const { reasoning, text, refusal, calls } = content
    const isElsewhere = (own: string) => isLast || (own === '' && reasoning + text + refusal !== '')
    const join = (place: 'reasoning' | 'text' | 'refusal') => {
      const own = content[place]
      return this.#join(place, own, isElsewhere(own) || (own === '' && calls.length > 0))
    }
    return {
      ...content,
      reasoning: join('reasoning'),
      text: join('text'),
      refusal: join('refusal'),
      calls: calls.map((call) => ({
        ...call,
        arguments: this.#join(`call ${call.index ?? call.id}`, call.arguments, isLast),
      })),
    }
  }

  /** Keeps a first half back for the next piece, unless this is the last one of its text. */
  #join(place: string, piece: string, isLast: boolean): string {
    const joined = (this.#halves.get(place) ?? '') + piece
    this.#halves.delete(place)
    if (isLast || !/[\ud800-\udbff]$/.test(joined)) return joined.toWellFormed()
    this.#halves.set(place, joined.slice(-1))
    return joined.slice(0, -1).toWellFormed()
  }
}

/** Returns the content of a whole answer without halves of characters. */
export function repairCharacters(content: ChoiceContent): ChoiceContent {
  if (!hasHalf(content)) return content
  const { reasoning, text, refusal, calls } = content
  return {
    ...content,
    reasoning: reasoning.toWellFormed(),
    text: text.toWellFormed(),
    refusal: refusal.toWellFormed(),
    calls: calls.map((call) => ({ ...call, arguments: call.arguments.toWellFormed() })),
  }
}

function hasHalf({ reasoning, text, refusal, calls }: ChoiceContent): boolean {
  const isWhole = text.isWellFormed() && reasoning.isWellFormed() && refusal.isWellFormed()
  return !isWhole || calls.some((call) => !call.arguments.isWellFormed())
}
