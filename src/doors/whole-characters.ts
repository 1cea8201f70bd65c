import type { CallContent, ChoiceContent } from './choice.ts'

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
    if (isLast || !/[\ud800-\udbff]$/.test(joined)) return replaceHalves(joined)
    this.#halves.set(place, joined.slice(-1))
    return replaceHalves(joined.slice(0, -1))
  }
}

/** Returns the content of a whole answer without halves of characters. */
export function repairCharacters(content: ChoiceContent): ChoiceContent {
  if (!hasHalf(content)) return content
  const { reasoning, text, refusal, calls } = content
  return {
    ...content,
    reasoning: replaceHalves(reasoning),
    text: replaceHalves(text),
    refusal: replaceHalves(refusal),
    calls: calls.map((call) => ({ ...call, arguments: replaceHalves(call.arguments) })),
  }
}

function hasHalf({ reasoning, text, refusal, calls }: ChoiceContent): boolean {
  return isBroken(text) || isBroken(reasoning) || isBroken(refusal) || calls.some(isBrokenCall)
}

function isBrokenCall(call: CallContent): boolean {
  return isBroken(call.arguments)
}

function isBroken(text: string): boolean {
  return /\p{Surrogate}/u.test(text)
}

function replaceHalves(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd')
}
