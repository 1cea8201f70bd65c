import { isObject } from '../../wire/json/parse.ts'
import { stringifyJson } from '../../wire/json/raw.ts'
import { JoinedCandidate } from './joined-candidate.ts'
import { createMembers, type KnownMembers, replaceKnown } from './known-members.ts'
import { createPartReader, type GeminiResponse } from './response.ts'

interface ParsedChunk {
  readonly response: GeminiResponse
  readonly json: string
}

/** Joins the chunks of a stream to the answer that a request without `stream` would have got. */
export class JoinedChunks {
  readonly #candidates = new Map<number, JoinedCandidate>()
  readonly #members = createMembers()
  readonly #usage = createMembers()

  add(chunk: Readonly<KnownMembers>, { response, json }: ParsedChunk): void {
    const { candidates, usageMetadata, ...others } = chunk
    replaceKnown(this.#members, others)
    // Some counts are in early chunks only: the last of each counts.
    if (isObject(usageMetadata)) Object.assign(this.#usage, usageMetadata)
    if (!Array.isArray(candidates)) return
    const readPart = createPartReader(json)
    response.candidates?.forEach(({ index, content }, at) => {
      const place = index ?? at
      const candidate = this.#candidates.get(place) ?? new JoinedCandidate()
      this.#candidates.set(place, candidate)
      candidate.add(candidates[at] ?? {})
      content?.parts?.forEach((part, of) => candidate.addPart(part, () => readPart(at, of)))
    })
  }

  /** Writes the answer as JSON, in pieces. */
  *write(): Generator<string> {
    if (Object.keys(this.#usage).length > 0) this.#members['usageMetadata'] = this.#usage
    const members = stringifyJson(this.#members).slice(1, -1)
    if (this.#candidates.size === 0) {
      yield `{${members}}`
      return
    }
    let separator = '{"candidates":['
    for (const candidate of this.#candidates.values()) {
      yield separator
      yield* candidate.write()
      separator = ','
    }
    yield `]${members && ','}${members}}`
  }
}
