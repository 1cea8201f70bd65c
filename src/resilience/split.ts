import type { UpstreamFailure } from '../core/failure.ts'
import type { Model } from '../core/provider.ts'
import type { CancelScope } from '../wire/cancel-scope.ts'
import { runInParallel } from '../wire/in-parallel.ts'
import type { Attempt, CallBill, CallResult } from './attempt.ts'
import { type ChainCall, type ChainRequest, type Served, tryLinks } from './chain.ts'
import { type LinkOutcome, retryLink } from './retry-link.ts'

/** Upstream calls of one request that run at the same time. */
const concurrency = 8

/** How the parts of a request are sent to one link. */
export interface SplitCall<Part, T> extends Pick<ChainCall<T>, 'explainSkip'> {
  /** Splits the request into the parts that this link accepts, at least one. */
  readonly split: (link: Model) => readonly Part[]
  /** Makes one upstream call, for one part. */
  readonly call: (part: Part, attempt: Attempt) => Promise<CallResult<T>>
  /** Returns what the vendor bills for a part that it served. */
  readonly bill: (value: T, part: Part) => CallBill
}

/**
 * Tries the links of a chain in order until one serves all parts of a request. Each part has its own
 * attempts and reports to the breaker by itself. When one part fails, the link has failed, and the
 * next link gets the whole request; what the link has served by then is billed all the same. The values are in the
 * order of the parts.
 */
export function runSplitChain<Part, T>(
  request: ChainRequest,
  split: SplitCall<Part, T>,
): Promise<Served<readonly T[]>> {
  return tryLinks(request, {
    explainSkip: split.explainSkip,
    tryLink: async (link, linkScope) => {
      const scope = linkScope.open()
      try {
        return await callParts(request, split, { link, scope })
      } finally {
        // After an error that is not an upstream failure, some parts may still be running.
        scope.end({ kind: 'abandoned' })
      }
    },
  })
}

interface PartTarget {
  readonly link: Model
  readonly scope: CancelScope
}

/** How many parts a link takes at once. Where its room is limited, the request has one place and takes what is free. */
async function countPlaces(request: ChainRequest, link: Model, parts: number): Promise<number> {
  if (!link.room || parts < 2) return concurrency
  return 1 + (await request.enterMore(link, Math.min(parts, concurrency) - 1))
}

async function callParts<Part, T>(
  request: ChainRequest,
  { split, call, bill }: SplitCall<Part, T>,
  { link, scope }: PartTarget,
): Promise<LinkOutcome<readonly T[]>> {
  const values: T[] = []
  let attempts = 0
  let failure: UpstreamFailure | undefined
  const callPart = async (part: Part, index: number) => {
    if (failure) return
    const outcome = await retryLink(request, {
      link,
      scope,
      call: (attempt) => call(part, attempt),
    })
    attempts += outcome.attempts
    if (outcome.ok) {
      values[index] = outcome.value
      return
    }
    failure ??= outcome.failure
    scope.end({ kind: 'abandoned' })
  }
  const parts = split(link)
  // A half-open circuit admits one call, so the other parts wait for its outcome.
  const alone = request.resilience.breakers.get(link).state === 'closed' ? 0 : 1
  await runInParallel(parts.slice(0, alone), 1, callPart)
  const atOnce = await countPlaces(request, link, parts.length - alone)
  await runInParallel(parts.slice(alone), atOnce, (part, index) => callPart(part, alone + index))
  if (!failure) return { ok: true, value: values, attempts }
  // The parts that were not served are holes, which no iteration visits.
  const bills: CallBill[] = []
  values.forEach((value, index) => bills.push(bill(value, parts[index] as Part)))
  if (bills.length > 0) request.onUnused(link, bills)
  return { ok: false, failure, attempts }
}
