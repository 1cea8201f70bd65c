import { type ChatCall, findOutputBound, type OutputEstimate } from '../../core/chat.ts'

/** A client's bound, held to what the model may write; undefined where the client sets none. */
export function clampBound(
  maxOutputTokens: number | undefined,
  bound: number | undefined,
): number | undefined {
  return bound === undefined || maxOutputTokens === undefined
    ? bound
    : Math.min(bound, maxOutputTokens)
}

/** What a link may write whose upstream gets the client's own bytes. */
export function estimateVerbatimOutput({ request }: ChatCall): OutputEstimate {
  const bound = findOutputBound(request)
  return { maxTokens: bound ?? 0, isBounded: bound !== undefined, choices: request.n ?? 1 }
}

interface TranslatedBounds {
  /** The bound in the request that is sent; undefined when it has none. */
  readonly sentBound: number | undefined
  /** The bound of the model. */
  readonly maxOutputTokens: number | undefined
  readonly choices?: number
}

/** What a link may write whose request is translated: no less than the client's largest bound asks for. */
export function estimateTranslatedOutput(
  { request }: ChatCall,
  { sentBound, maxOutputTokens, choices = 1 }: TranslatedBounds,
): OutputEstimate {
  const asked = clampBound(maxOutputTokens, findOutputBound(request)) ?? 0
  return { maxTokens: Math.max(sentBound ?? 0, asked), isBounded: sentBound !== undefined, choices }
}
