import { PairJoiner } from '../wire/surrogates.ts'
import type { ChoiceContent } from './choice.ts'

/*
 * Some upstreams cut a stream inside of a character, and write each half of its surrogate pair as an escape: `\ud83e`
 * ends one piece, `\udd86` begins the next.
 */

/** Joins the halves of characters in the pieces of one streamed answer. */
export class WholeCharacters {
  readonly #pairs = new PairJoiner()

  /** True when no half waits for the other one. */
  get isEmpty(): boolean {
    return this.#pairs.isEmpty
  }

  /** Returns what a piece adds in whole characters. A half whose other half does not follow is replaced. */
  read(content: ChoiceContent): ChoiceContent {
    if (this.#pairs.isEmpty && !isBroken(content)) return content
    const isLast = content.finishReason !== undefined
    const { reasoning, text, refusal, calls } = content
    const isElsewhere = (own: string) => isLast || (own === '' && reasoning + text + refusal !== '')
    const join = (place: 'reasoning' | 'text' | 'refusal') => {
      const own = content[place]
      return this.#pairs.join(place, own, isElsewhere(own) || (own === '' && calls.length > 0))
    }
    return {
      ...content,
      reasoning: join('reasoning'),
      text: join('text'),
      refusal: join('refusal'),
      calls: calls.map((call) => ({
        ...call,
        arguments: this.#pairs.join(`call ${call.index ?? call.id}`, call.arguments, isLast),
      })),
    }
  }
}

/** Returns the content of a whole answer without halves of characters. */
export function repairCharacters(content: ChoiceContent): ChoiceContent {
  if (!isBroken(content)) return content
  const { reasoning, text, refusal, calls } = content
  return {
    ...content,
    reasoning: reasoning.toWellFormed(),
    text: text.toWellFormed(),
    refusal: refusal.toWellFormed(),
    calls: calls.map((call) => ({ ...call, arguments: call.arguments.toWellFormed() })),
  }
}

function isBroken({ reasoning, text, refusal, calls }: ChoiceContent): boolean {
  const isWhole = text.isWellFormed() && reasoning.isWellFormed() && refusal.isWellFormed()
  return !isWhole || calls.some((call) => !call.arguments.isWellFormed())
}
