import type { Capability } from './capability.ts'

/**
 * The two forms of requests for decisions, by the vendors that made them: `input` and a list of questions, or `state`
 * and named questions. No request is translated from one to the other.
 */
export const decisionForms = ['openai', 'typesafe'] as const
export type DecisionForm = (typeof decisionForms)[number]

/** True for a model that serves nothing but decisions: its output costs 0 unless a price says otherwise. */
export function onlyDecides({
  capabilities,
}: {
  readonly capabilities: readonly Capability[]
}): boolean {
  return capabilities.every((capability) => capability === 'decisions')
}
