import { GatewayError } from '../../core/errors.ts'
import type { Model } from '../../core/provider.ts'
import type { ModelRoute } from '../../core/route.ts'

/** A request as far as its place in a context window is known from it. */
export interface SizedRequest {
  readonly route: ModelRoute
  /** Returns the estimated tokens of the prompt and the output that is asked for; called only where windows are set. */
  measureContext(): number | undefined
}

/** The links that are passed over, each with the error that says why. */
export type SmallLinks = ReadonlyMap<Model, GatewayError>

/** Returns the tokens that a request takes in a context window; undefined where no link has one. */
export function measureContext(request: SizedRequest): number | undefined {
  return request.route.hasWindows ? request.measureContext() : undefined
}

/**
 * Finds the links whose context window is too small for so many tokens, in the order in which they are tried. A link
 * behind which none is large enough is not among them: the estimate may be wrong.
 */
export function findSmall(order: readonly Model[], tokens: number | undefined): SmallLinks {
  if (tokens === undefined) return noSmall
  const fits = ({ contextWindow }: Model) => contextWindow === undefined || contextWindow >= tokens
  const last = order.findLastIndex(fits)
  const small = order.slice(0, Math.max(last, 0)).filter((link) => !fits(link))
  return new Map(small.map((link) => [link, tooSmall(link, tokens)]))
}

const noSmall: SmallLinks = new Map()

function tooSmall({ id, contextWindow }: Model, tokens: number): GatewayError {
  const message = `the context window of model ${id} has ${contextWindow} tokens, and the request takes about ${tokens}`
  return new GatewayError('LM-2012', message)
}
