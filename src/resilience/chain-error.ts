import { forbidRetry, GatewayError } from '../core/errors.ts'
import { errorOf, type UpstreamFailure } from '../core/failure.ts'
import type { Model } from '../core/provider.ts'

export interface LinkFailure {
  readonly link: Model
  readonly failure: UpstreamFailure
  readonly attempts: number
}

/**
 * The error of a chain none of whose links served. One link: its own error. More: LM-3004 with all
 * attempts, unless every link failed in the same telling way. A total timeout tells most of all.
 */
export function chainError(failures: readonly LinkFailure[]): GatewayError {
  const errors = failures.map(({ link, failure }) => errorOf(failure, link.provider.name))
  const total = errors.find(({ code }) => code === 'LM-3013')
  if (total) return total
  const [first, ...others] = errors
  if (first && others.length === 0) return first
  const shared = first && others.every(({ code }) => code === first.code) ? first : undefined
  const message = `every link of the chain failed: ${failures.map(describe).join('; ')}`
  const headers = forbidRetry
  switch (shared?.code) {
    case 'LM-3001':
      return new GatewayError('LM-3001', message, { retryAfter: soonest(errors) })
    case 'LM-3020':
      return new GatewayError('LM-3020', message, { retryAfter: soonest(errors), headers })
    case 'LM-3010':
    case 'LM-3011':
    case 'LM-3012':
      return new GatewayError(shared.code, message, { headers })
    default:
      return new GatewayError('LM-3004', message, { headers })
  }
}

function describe({ link, failure, attempts }: LinkFailure): string {
  const calls = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  return `${link.id} (${calls}): ${errorOf(failure, link.provider.name).message}`
}

/** A client may come back as soon as any link will take it. */
function soonest(errors: readonly GatewayError[]): number | undefined {
  const waits = errors.flatMap(({ detail }) => detail.retryAfter ?? [])
  return waits.length > 0 ? Math.min(...waits) : undefined
}
