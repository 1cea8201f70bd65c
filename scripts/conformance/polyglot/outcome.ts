import { z } from 'zod'
import type { Exchange } from './relay.ts'

/** A line of a program: a client with one case, in front of one kind of upstream. */
export const outcomeSchema = z.object({
  client: z.string(),
  version: z.string(),
  api: z.enum(['chat', 'messages', 'responses', 'gemini']),
  kind: z.string(),
  case: z.string(),
  ok: z.boolean(),
  detail: z.string(),
})

export type Outcome = z.infer<typeof outcomeSchema>

/** The label with which the requests of a case pass the relay. */
export function toLabel({ client, api, kind, case: name }: Outcome): string {
  return [client, api, kind, name].join(':')
}

/**
 * How many requests a client may send in a case. It must not repeat a request that was refused,
 * except that SDKs repeat a 429 twice.
 */
const maxRequests: Readonly<Record<string, number>> = {
  400: 1,
  401: 1,
  402: 1,
  404: 1,
  429: 3,
  cut: 1,
}

const gemini = ['google']
const claude = ['anthropic', 'bedrock']

/**
 * Clients that do not send back fields that OpenAI does not have, and the kinds whose proofs are in
 * such a field: `extra_content` of a tool call for Gemini, `thinking_blocks` of a message for Claude.
 */
const lostProofs: Readonly<Record<string, readonly string[]>> = {
  'langchain-openai:chat': [...gemini, ...claude],
  'litellm:chat': [...gemini, ...claude],
  'openai-go:chat': [...gemini, ...claude],
  'langchain4j:chat': [...gemini, ...claude],
  'openai-java:chat': claude,
  'pydantic-ai:chat': claude,
}

/** Fails an outcome for what the client or the gateway sent on the way. */
export function judge(outcome: Outcome, exchanges: readonly Exchange[]): Outcome {
  const problem = outcome.ok ? findProblem(outcome, exchanges) : undefined
  return problem === undefined ? outcome : { ...outcome, ok: false, detail: problem }
}

function findProblem(outcome: Outcome, exchanges: readonly Exchange[]): string | undefined {
  const max = maxRequests[outcome.case] ?? Number.POSITIVE_INFINITY
  if (exchanges.length > max) return `${exchanges.length} requests, not ${max}: ${outcome.detail}`
  const lost = lostProofs[`${outcome.client}:${outcome.api}`] ?? []
  const mayLoseProofs = lost.includes(outcome.kind)
  for (const { path, refusal, lacksProof } of exchanges.flatMap(({ upstream }) => upstream)) {
    if (refusal && !refusal.isScripted) return `${path}: ${refusal.status} ${refusal.message}`
    if (lacksProof && !mayLoseProofs) return `${path}: a proof of reasoning is lost`
  }
  return undefined
}
