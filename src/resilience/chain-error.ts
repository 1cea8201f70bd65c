import type { UntranslatableError } from '../core/cannot-express.ts'
import { GatewayError, noRetryHeader } from '../core/errors.ts'
import { errorOf, namedWait, type UpstreamFailure, vendorErrorOf } from '../core/failure.ts'
import type { Millis } from '../core/ids.ts'
import type { Model } from '../core/provider.ts'

/** A link that did not serve: all its attempts failed, or it cannot express the request. */
export type LostLink =
  | { readonly link: Model; readonly failure: UpstreamFailure; readonly attempts: number }
  | { readonly link: Model; readonly unable: UntranslatableError }

type FailedLink = Extract<LostLink, { readonly failure: UpstreamFailure }>

/**
 * The error of a chain none of whose links served. LM-1001 when no link can express the request.
 * Else the links that were asked decide. One link: its own error. More: LM-3004 with all attempts,
 * unless every link failed in the same telling way. A total timeout tells most of all.
 */
export function chainError(lost: readonly LostLink[]): GatewayError {
  const failed = lost.filter((one): one is FailedLink => 'failure' in one)
  const errors = failed.map(({ link, failure }) => errorOf(failure, link.provider.name))
  const [first, ...others] = errors
  // A chain has links, so where none failed the first one is unable.
  if (!first) return (lost[0] as Exclude<LostLink, FailedLink>).unable.toError()
  const upstream = failed.map(({ failure }) => vendorErrorOf(failure)).findLast(Boolean)
  const fields = upstream && { upstream }
  const total = errors.find(({ code }) => code === 'LM-3013')
  if (total) return total.with({ retryAfter: lastWait(failed), fields })
  if (lost.length === 1) return first
  const isShared = others.every(({ code }) => code === first.code)
  const code = isShared && sharedEnds.has(first.code) ? first.code : 'LM-3004'
  return new GatewayError(
    code,
    `every link of the chain failed: ${lost.map(describe).join('; ')}`,
    {
      retryAfter: code === 'LM-3020' ? soonest(errors) : lastWait(failed),
      headers: code === 'LM-3001' ? [] : noRetryHeader,
      fields,
    },
  )
}

/** Ends that mean the same for a chain as for a link. */
const sharedEnds: ReadonlySet<string> = new Set([
  'LM-3001',
  'LM-3010',
  'LM-3011',
  'LM-3012',
  'LM-3020',
])

function describe(lost: LostLink): string {
  const { id, provider } = lost.link
  if ('unable' in lost)
    return `${id} (0 attempts): cannot express the request: ${lost.unable.message}`
  const { failure, attempts } = lost
  const calls = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  return `${id} (${calls}): ${errorOf(failure, provider.name).message}`
}

/** The wait that the last rate limit or overload of the chain has named. */
function lastWait(failed: readonly FailedLink[]): Millis | undefined {
  return failed.map(({ failure }) => namedWait(failure)).findLast((wait) => wait !== undefined)
}

/** A client may come back as soon as one circuit closes. */
function soonest(errors: readonly GatewayError[]): Millis | undefined {
  const waits = errors.flatMap(({ detail }) => detail.retryAfter ?? [])
  return waits.length > 0 ? Math.min(...waits) : undefined
}
