import { type ChatCall, findOutputBound, type OutputEstimate } from '../../core/chat.ts'

/** Limits the client's bound to that of the model, in tokens; undefined when the client sets none. */
export function clampBound(
  maxOutputTokens: number | undefined,
  bound: number | undefined,
): number | undefined {
  return bound === undefined || maxOutputTokens === undefined
    ? bound
    : Math.min(bound, maxOutputTokens)
}

/** Estimates the output of a link whose upstream receives the client's own bytes. */
export function estimateVerbatimOutput({ head }: ChatCall): OutputEstimate {
  const bound = findOutputBound(head)
  return { maxTokens: bound ?? 0, isBounded: bound !== undefined, choices: head.n ?? 1 }
}

interface TranslatedBounds {
  /** The bound in the request that is sent; undefined when it has none. */
  readonly sentBound: number | undefined
  /** The bound of the model. */
  readonly maxOutputTokens: number | undefined
  readonly choices?: number
}

/** Estimates the output of a link with a translated request: at least the client's largest bound. */
export function estimateTranslatedOutput(
  { head }: ChatCall,
  { sentBound, maxOutputTokens, choices = 1 }: TranslatedBounds,
): OutputEstimate {
  const asked = clampBound(maxOutputTokens, findOutputBound(head)) ?? 0
  return { maxTokens: Math.max(sentBound ?? 0, asked), isBounded: sentBound !== undefined, choices }
}
