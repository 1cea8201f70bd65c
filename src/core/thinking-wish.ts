/**
 * What a request says of thinking, in whatever field of whatever API. An `on` without effort and budget
 * leaves the amount to the model.
 */
export type ThinkingWish<Effort extends string = string> =
  | { readonly kind: 'unset' }
  /** Claude alone reads an effort beside it: there it is about the whole answer. */
  | { readonly kind: 'off'; readonly effort: Effort | undefined }
  | {
      readonly kind: 'on'
      readonly effort: Effort | undefined
      /** In tokens. */
      readonly budget: number | undefined
    }

/** The fields of a canonical chat request that say a wish. */
export interface WishFields<Effort extends string> {
  /** An object in the form of Claude's API. */
  readonly thinking?: unknown
  readonly effort: Effort | 'none' | undefined
}

/** Reads a wish. `thinking` turned off wins over an effort. */
export function readWish<Effort extends string>({
  thinking,
  effort: given,
}: WishFields<Effort>): ThinkingWish<Exclude<Effort, 'none'>> {
  // The other words of `Effort` are efforts.
  const effort = given === 'none' ? undefined : (given as Exclude<Effort, 'none'> | undefined)
  const { type, budget_tokens: budget } = toMembers(thinking)
  if (type === 'disabled') return { kind: 'off', effort }
  if (type === 'enabled' || type === 'adaptive') {
    const tokens = type === 'enabled' && typeof budget === 'number' ? budget : undefined
    return { kind: 'on', effort, budget: tokens }
  }
  if (given === undefined) return { kind: 'unset' }
  return effort === undefined
    ? { kind: 'off', effort: undefined }
    : { kind: 'on', effort, budget: undefined }
}

function toMembers(value: unknown): Readonly<Record<string, unknown>> {
  // The members of any object are unknown values.
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** Returns the effort that comes nearest to a budget of thinking tokens. */
export function toNearestEffort(budget: number): 'low' | 'medium' | 'high' {
  if (budget < 4096) return 'low'
  return budget < 16_384 ? 'medium' : 'high'
}
