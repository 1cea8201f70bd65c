import { invalid } from '../core/errors.ts'
import { maxJson } from '../wire/json/body.ts'
import type { TimeSlice } from '../wire/time-slice.ts'
import { type OpenedProof, openProof, type Proof } from './proofs.ts'

/** A text of the gateway in a request, and the dotted path of the field that holds it. */
export interface PlacedProof {
  readonly text: string
  readonly path: string
}

export interface ProofCheck {
  /** The number of values in the body of the request. */
  readonly values: number
  readonly slice: TimeSlice
}

/** The proofs of one request by their texts. Each text is decoded once, however many steps read it. */
export class RequestProofs {
  readonly #open: (text: string) => OpenedProof
  readonly #decoded = new Map<string, Proof | undefined>()

  /** `open` decodes the texts of an API that has a form of its own for them. */
  constructor(open: (text: string) => OpenedProof = openProof) {
    this.#open = open
  }

  /**
   * Decodes all proofs of a request, and yields to other work between them. LM-1001 when they hold, together
   * with the body, more values than a body may: anyone can write such texts, and the values in them take as
   * much work as those outside.
   */
  async check(proofs: readonly PlacedProof[], { values, slice }: ProofCheck): Promise<void> {
    let sum = values
    for (const { text, path } of proofs) {
      const { proof, values: own } = this.#open(text)
      sum += own
      if (sum > maxJson.maxValues) {
        const rule = `hold more than ${maxJson.maxValues} objects, arrays and members together`
        throw invalid(`${path}: the request body and the encoded reasoning in it ${rule}`, path)
      }
      this.#decoded.set(text, proof)
      await slice.pause()
    }
  }

  /** Returns the proof in a text; undefined if another service made the text, or if it is broken. */
  read(text: string): Proof | undefined {
    if (!this.#decoded.has(text)) this.#decoded.set(text, this.#open(text).proof)
    return this.#decoded.get(text)
  }

  /** Drops the decoded proofs, which are decoded again when they are needed. */
  forget(): void {
    this.#decoded.clear()
  }
}
