import { isObject } from '../../wire/json/parse.ts'
import type { JsonObject } from '../choice.ts'

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

/** Joins the log probabilities of two chunks of one candidate, as the gateway has written them. */
export function joinLogprobs(before: unknown, next: unknown): unknown {
  if (!isResult(before) || !isResult(next)) return next ?? before
  const tops = [...listTops(before), ...listTops(next)]
  return {
    chosenCandidates: [...before.chosenCandidates, ...next.chosenCandidates],
    ...((before.topCandidates ?? next.topCandidates) && { topCandidates: tops }),
  }
}

function isResult(value: unknown): value is LogprobsResult {
  return isObject(value)
}

function listTops({ chosenCandidates, topCandidates }: LogprobsResult) {
  return topCandidates ?? chosenCandidates.map(() => ({ candidates: [] }))
}
