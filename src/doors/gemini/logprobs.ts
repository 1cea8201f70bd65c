import { isObject, type JsonObject } from '../../wire/json/parse.ts'

/** A token of an answer, as the API has it. */
interface Candidate {
  readonly token: string
  readonly logProbability: number
}

/** The log probabilities of an answer, or of a chunk: https://ai.google.dev/api/generate-content#LogprobsResult */
export interface LogprobsResult {
  readonly chosenCandidates: readonly Candidate[]
  readonly topCandidates?: readonly { readonly candidates: readonly Candidate[] }[]
}

/** Reads the log probabilities of a choice; undefined when it has none. */
export function readLogprobs({ logprobs }: JsonObject): LogprobsResult | undefined {
  if (!isObject(logprobs) || !Array.isArray(logprobs['content'])) return undefined
  const tokens = logprobs['content'].filter(isObject)
  if (tokens.length === 0) return undefined
  const tops = tokens.map(({ top_logprobs: top }) => ({
    candidates: Array.isArray(top) ? top.filter(isObject).map(toCandidate) : [],
  }))
  return {
    chosenCandidates: tokens.map(toCandidate),
    ...(tops.some(({ candidates }) => candidates.length > 0) && { topCandidates: tops }),
  }
}

function toCandidate({ token, logprob }: JsonObject): Candidate {
  return {
    token: typeof token === 'string' ? token : '',
    logProbability: typeof logprob === 'number' ? logprob : 0,
  }
}

/** The sum of the log probabilities of a candidate so far, for their average. */
export class LogprobSum {
  #sum = 0
  #count = 0

  add(result: LogprobsResult | undefined): void {
    if (!result) return
    for (const { logProbability } of result.chosenCandidates) this.#sum += logProbability
    this.#count += result.chosenCandidates.length
  }

  /** The member of a candidate that has the average; none without log probabilities. */
  get member(): { readonly avgLogprobs?: number } {
    return this.#count === 0 ? {} : { avgLogprobs: this.#sum / this.#count }
  }
}

/** Joins the log probabilities of the chunks of one candidate, as the gateway has written them. */
export class JoinedLogprobs {
  readonly #chosen: Candidate[] = []
  readonly #tops: { readonly candidates: readonly Candidate[] }[] = []
  #hasTops = false

  add(result: unknown): void {
    if (!isResult(result)) return
    const { chosenCandidates, topCandidates } = result
    this.#hasTops ||= topCandidates !== undefined
    for (const [at, token] of chosenCandidates.entries()) {
      this.#chosen.push(token)
      this.#tops.push(topCandidates?.[at] ?? { candidates: [] })
    }
  }

  /** The member of the candidate; none without log probabilities. */
  get member(): { readonly logprobsResult?: LogprobsResult } {
    if (this.#chosen.length === 0) return {}
    const chosenCandidates = this.#chosen
    return {
      logprobsResult: this.#hasTops
        ? { chosenCandidates, topCandidates: this.#tops }
        : { chosenCandidates },
    }
  }
}

function isResult(value: unknown): value is LogprobsResult {
  return isObject(value)
}
