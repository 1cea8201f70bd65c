import { GatewayError, noRetryHeader } from '../core/errors.ts'
import {
  getRequestedWait,
  getVendorError,
  toClientError,
  type UpstreamFailure,
} from '../core/failure.ts'
import type { Millis } from '../core/ids.ts'
import type { Model } from '../core/provider.ts'
import type { UntranslatableError } from '../core/untranslatable-error.ts'

/** Why a link did not serve: all its attempts failed, or it cannot express the request. */
export type LinkFailure =
  | FailedAttempts
  | { readonly link: Model; readonly untranslatable: UntranslatableError }

interface FailedAttempts {
  readonly link: Model
  /** The failure of the last attempt. */
  readonly failure: UpstreamFailure
  readonly attempts: number
}

/**
 * Makes the error of a chain that no link served. When no link can express the request, it is LM-1001.
 * Otherwise the links that were called decide: LM-3013 when the total timeout fired; a single link's
 * own error; the shared code when all links failed alike in one of `sharedCodes`; else LM-3004.
 */
export function createChainError(failures: readonly LinkFailure[]): GatewayError {
  const failed = failures.filter((one): one is FailedAttempts => 'failure' in one)
  const errors = failed.map(({ link, failure }) => toClientError(failure, link.provider.name))
  const [first, ...others] = errors
  // A chain has at least one link, so when none failed the first one cannot express the request.
  if (!first) return (failures[0] as Exclude<LinkFailure, FailedAttempts>).untranslatable.toError()
  const upstream = failed.map(({ failure }) => getVendorError(failure)).findLast(Boolean)
  const fields = upstream && { upstream }
  const total = errors.find(({ code }) => code === 'LM-3013')
  if (total) return total.with({ retryAfter: findLastWait(failed), fields })
  if (failures.length === 1) return first
  const isShared = others.every(({ code }) => code === first.code)
  const code = isShared && sharedCodes.has(first.code) ? first.code : 'LM-3004'
  return new GatewayError(
    code,
    `every link of the chain failed: ${failures.map(describe).join('; ')}`,
    {
      retryAfter: endsByItself(code) ? findSoonestWait(errors) : findLastWait(failed),
      headers: code === 'LM-3001' || code === 'LM-3021' ? undefined : noRetryHeader,
      fields,
    },
  )
}

/** Codes that mean the same for a chain as for a single link. */
const sharedCodes: ReadonlySet<string> = new Set([
  'LM-2012',
  'LM-2013',
  'LM-3001',
  'LM-3010',
  'LM-3011',
  'LM-3012',
  'LM-3020',
  'LM-3021',
])

function describe(one: LinkFailure): string {
  const { id, provider } = one.link
  if ('untranslatable' in one)
    return `${id} (0 attempts): cannot express the request: ${one.untranslatable.message}`
  const { failure, attempts } = one
  const calls = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  return `${id} (${calls}): ${toClientError(failure, provider.name).message}`
}

/** The wait that the last rate limit or overload of the chain asked for. */
function findLastWait(failed: readonly FailedAttempts[]): Millis | undefined {
  return failed
    .map(({ failure }) => getRequestedWait(failure))
    .findLast((wait) => wait !== undefined)
}

/** True for the codes of a state that ends without another call. */
function endsByItself(code: string): boolean {
  return code === 'LM-3020' || code === 'LM-3021'
}

/** A client may retry as soon as one circuit closes, or one link has room. */
function findSoonestWait(errors: readonly GatewayError[]): Millis | undefined {
  const waits = errors.flatMap(({ detail }) => detail.retryAfter ?? [])
  return waits.length > 0 ? Math.min(...waits) : undefined
}
