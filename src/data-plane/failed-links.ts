import type { UpstreamFailure } from '../core/failure.ts'
import { codeOf, isOwnEnd, reasonOf, wordsOf } from '../core/failure-reason.ts'
import type { RequestId } from '../core/ids.ts'
import type { Log } from '../core/ports.ts'
import type { Model } from '../core/provider.ts'
import type { FailedLink } from '../core/request-record.ts'
import type { LostLink } from '../resilience/index.ts'

interface FailedAttempt {
  readonly id: RequestId
  readonly link: Model
  /** Its number among all attempts of the request, from 1. */
  readonly attempt: number
  readonly failure: UpstreamFailure
}

/**
 * One warn line for a failed attempt, or for one that was not made for want of a credential; the
 * upstream's own words, which may quote a prompt, at debug.
 */
export function logFailedAttempt(log: Log, { id, link, attempt, failure }: FailedAttempt): void {
  if (isOwnEnd(failure)) return
  const asked = { request_id: id, provider: link.provider.name, model: link.id }
  if (failure.kind === 'no-credential') {
    const { message: problem } = failure
    log.write('warn', 'no credential', { ...asked, problem, code: codeOf(failure) })
    return
  }
  const place = { ...asked, attempt }
  log.write('warn', 'attempt failed', {
    ...place,
    failure: failure.kind,
    limit: failure.kind === 'timeout' ? failure.limit : undefined,
    status: failure.kind === 'status' ? failure.status : undefined,
    code: codeOf(failure),
  })
  const words = wordsOf(failure)
  if (words !== '') log.write('debug', 'the upstream said', { ...place, words })
}

/** What the line of the request says of a link that did not serve; undefined for nothing. */
export function failedLink(lost: LostLink): FailedLink | undefined {
  const { id: model, provider } = lost.link
  if ('unable' in lost) {
    const field = lost.unable.param ?? 'the request'
    return { model, provider: provider.name, reason: `cannot express ${field}`, attempts: 0 }
  }
  const { failure, attempts } = lost
  if (isOwnEnd(failure)) return undefined
  return { model, provider: provider.name, reason: reasonOf(failure), attempts }
}
