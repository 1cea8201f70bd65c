import type { UpstreamFailure } from '../core/failure.ts'
import type { Model } from '../core/provider.ts'
import type { CancelScope } from '../wire/cancel-scope.ts'
import { inParallel } from '../wire/in-parallel.ts'
import { type ChainSetting, overLinks, type Served } from './chain.ts'
import {
  type AttemptContext,
  type CallResult,
  type LinkOutcome,
  type Resilience,
  retryLink,
} from './retry-link.ts'

/** Calls of one request that run at the same time. */
const concurrency = 8

export interface SplitRun<Part, T> {
  /** The parts that this link takes the request in; at least one. */
  readonly split: (link: Model) => readonly Part[]
  readonly attempt: (part: Part, context: AttemptContext) => Promise<CallResult<T>>
}

/**
 * Asks the links of a chain in order until one serves all parts of a request. Each part has its own
 * attempts and its own say with the breaker; but when one part is lost, the link has failed, and the
 * whole request goes on to the next. The values are in the order of the parts.
 */
export function runSplitChain<Part, T>(
  setting: ChainSetting,
  run: SplitRun<Part, T>,
): Promise<Served<readonly T[]>> {
  const { resilience } = setting
  return overLinks(setting, async (link, linkScope) => {
    const scope = linkScope.open()
    try {
      return await askInParts(run, { resilience, link, scope })
    } finally {
      // After an error that is no failure of the upstream, some parts may still be running.
      scope.end({ kind: 'abandoned' })
    }
  })
}

interface Asked {
  readonly resilience: Resilience
  readonly link: Model
  readonly scope: CancelScope
}

async function askInParts<Part, T>(
  { split, attempt }: SplitRun<Part, T>,
  { resilience, link, scope }: Asked,
): Promise<LinkOutcome<readonly T[]>> {
  const values: T[] = []
  let attempts = 0
  let lost: UpstreamFailure | undefined
  const ask = async (part: Part, index: number) => {
    if (lost) return
    const outcome = await retryLink(resilience, {
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
  const parts = split(link)
  // A half-open circuit lets one call through: the others wait for what comes of it.
  const alone = resilience.breakers.of(link).state === 'closed' ? 0 : 1
  await inParallel(parts.slice(0, alone), concurrency, ask)
  await inParallel(parts.slice(alone), concurrency, (part, index) => ask(part, alone + index))
  return lost ? { ok: false, failure: lost, attempts } : { ok: true, value: values, attempts }
}
