import type { UpstreamFailure } from '../core/failure.ts'
import type { Model } from '../core/provider.ts'
import type { Scope } from '../wire/deadline.ts'
import { inParallel } from '../wire/in-parallel.ts'
import { type Attempt, type AttemptContext, type LinkOutcome, runAttempts } from './attempts.ts'
import { type ChainSetting, overLinks, type Served } from './chain.ts'

/** Calls of one request that run at the same time. */
const concurrency = 8

export interface SplitRun<Part, T> extends ChainSetting {
  /** The parts that this link takes the request in; at least one. */
  readonly split: (link: Model) => readonly Part[]
  readonly attempt: (part: Part, context: AttemptContext) => Promise<Attempt<T>>
}

/**
 * Asks the links of a chain in order until one serves all parts of a request. Each part has its own
 * attempts and its own say with the breaker; but when one part is lost, the link has failed, and the
 * whole request goes on to the next. The values are in the order of the parts.
 */
export function runSplitChain<Part, T>(run: SplitRun<Part, T>): Promise<Served<readonly T[]>> {
  return overLinks(run, (link, scope) => askInParts(run, link, scope))
}

async function askInParts<Part, T>(
  { resilience, split, attempt }: SplitRun<Part, T>,
  link: Model,
  linkScope: Scope,
): Promise<LinkOutcome<readonly T[]>> {
  const scope = linkScope.open()
  const values: T[] = []
  let attempts = 0
  let lost: UpstreamFailure | undefined
  const ask = async (part: Part, index: number) => {
    if (lost) return
    const outcome = await runAttempts(resilience, {
      link,
      scope,
      attempt: (context) => attempt(part, context),
    })
    attempts += outcome.attempts
    if (outcome.ok) {
      values[index] = outcome.value
      return
    }
    lost ??= outcome.failure
    scope.end({ kind: 'abandoned' })
  }
  try {
    const parts = split(link)
    // A half-open circuit lets one call through: the others wait for what comes of it.
    const alone = resilience.breakers.of(link).state === 'closed' ? 0 : 1
    await inParallel(parts.slice(0, alone), concurrency, ask)
    await inParallel(parts.slice(alone), concurrency, (part, index) => ask(part, alone + index))
  } finally {
    // After an error that is no failure of the upstream, some parts may still be running.
    scope.end({ kind: 'abandoned' })
  }
  return lost ? { ok: false, failure: lost, attempts } : { ok: true, value: values, attempts }
}
