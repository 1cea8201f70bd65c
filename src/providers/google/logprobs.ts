import type { LogprobsResult, TokenLogprob } from './response.ts'

/** The log probabilities of a candidate as the OpenAI API writes them. A zero is left out upstream. */
export function logprobsOf({ chosenCandidates, topCandidates }: LogprobsResult): object {
  const content = (chosenCandidates ?? []).map((chosen, position) => ({
    ...tokenOf(chosen),
    top_logprobs: (topCandidates?.[position]?.candidates ?? []).map(tokenOf),
  }))
  return { content, refusal: null }
}

const encoder = new TextEncoder()

function tokenOf({ token: text, logProbability }: TokenLogprob) {
  return { token: text ?? '', logprob: logProbability ?? 0, bytes: [...encoder.encode(text ?? '')] }
}
