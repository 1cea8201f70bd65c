import { type ChatCall, findOutputBound, type OutputEstimate } from '../../core/chat.ts'

/** A client's bound, held to what the model may write; undefined where the client sets none. */
export function heldTo(most: number | undefined, bound: number | undefined): number | undefined {
  return bound === undefined || most === undefined ? bound : Math.min(bound, most)
}

/** What a link may write whose upstream gets the client's own bytes. */
export function estimateVerbatimOutput({ request }: ChatCall): OutputEstimate {
  const bound = findOutputBound(request)
  return { maxTokens: bound ?? 0, isBounded: bound !== undefined, choices: request.n ?? 1 }
}

interface Translated {
  /** The bound in the request as it is sent; undefined where it holds none. */
  readonly sent: number | undefined
  /** The model's own bound. */
  readonly most: number | undefined
  readonly choices?: number
}

/** What a link may write whose request is translated: no less than the client's largest bound asks for. */
export function estimateTranslatedOutput(
  { request }: ChatCall,
  { sent, most, choices = 1 }: Translated,
): OutputEstimate {
  const asked = heldTo(most, findOutputBound(request)) ?? 0
  return { maxTokens: Math.max(sent ?? 0, asked), isBounded: sent !== undefined, choices }
}
