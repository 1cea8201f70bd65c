import type { UpstreamFailure } from './failure.ts'

/** Refusals of a request after which another link may serve it all the same. */
export const fallbackCauses = ['context_length', 'content_filter'] as const
export type FallbackCause = (typeof fallbackCauses)[number]

/** A model or a route that has causes of its own. */
interface Fallible {
  readonly fallbackOn?: readonly FallbackCause[] | undefined
}

/** True when a chain goes on after a link has refused the request for this cause. A chain of one link never does. */
export function goesOnAfter(
  { chain, fallbackOn }: Fallible & { readonly chain: readonly unknown[] },
  link: Fallible,
  cause: FallbackCause,
): boolean {
  const causes = fallbackOn ?? link.fallbackOn
  return causes !== undefined && chain.length > 1 && causes.includes(cause)
}

/** Returns the cause of a failure that is such a refusal. */
export function findCause(failure: UpstreamFailure): FallbackCause | undefined {
  switch (failure.kind === 'status' ? failure.refusal : undefined) {
    case 'prompt-too-long':
      return 'context_length'
    case 'content-filter':
      return 'content_filter'
    case undefined:
      return undefined
  }
}

/** The failure of an answer without content that the vendor's content filter has ended. */
export const filteredAnswer: UpstreamFailure = Object.freeze({
  kind: 'status',
  status: 400,
  message: 'the answer ended without content',
  refusal: 'content-filter',
})
