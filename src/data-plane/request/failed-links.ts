import type { UpstreamFailure } from '../../core/failure.ts'
import {
  describeFailure,
  findErrorCode,
  getUpstreamMessage,
  isLocalEnd,
} from '../../core/failure-reason.ts'
import type { RequestId } from '../../core/ids.ts'
import type { Log } from '../../core/ports.ts'
import type { Model } from '../../core/provider.ts'
import type { FailedLink } from '../../core/request-record.ts'
import type { LinkFailure, ParkedCredential } from '../../resilience/index.ts'

interface FailedAttempt {
  readonly id: RequestId
  readonly link: Model
  /** Its number among all attempts of the request, from 1. */
  readonly attempt: number
  readonly failure: UpstreamFailure
}

/**
 * Logs a failed attempt, or one that was not made because the credential is missing, as a warning.
 * The upstream's own message, which may quote a prompt, is logged at debug level.
 */
export function logFailedAttempt(log: Log, { id, link, attempt, failure }: FailedAttempt): void {
  if (isLocalEnd(failure)) return
  const target = { request_id: id, provider: link.provider.name, model: link.id }
  if (failure.kind === 'no-credential') {
    const { message: problem } = failure
    log.write('warn', 'no credential', { ...target, problem, code: findErrorCode(failure) })
    return
  }
  const fields = { ...target, attempt }
  log.write('warn', 'attempt failed', {
    ...fields,
    failure: failure.kind,
    limit: failure.kind === 'timeout' ? failure.limit : undefined,
    status: failure.kind === 'status' ? failure.status : undefined,
    code: findErrorCode(failure),
  })
  const words = getUpstreamMessage(failure)
  if (words !== '') log.write('debug', 'the upstream said', { ...fields, words })
}

interface ParkedOnLink {
  readonly id: RequestId
  readonly link: Model
  readonly parked: ParkedCredential
}

/** Logs which variable holds the parked credential, and for how long. The credential is never logged. */
export function logParked(log: Log, { id, link, parked }: ParkedOnLink): void {
  const { credential, status, wait, model } = parked
  log.write('warn', 'credential parked', {
    request_id: id,
    provider: link.provider.name,
    model,
    credential: credential.name,
    status,
    wait_ms: wait,
  })
}

/** The entry of the request's log line for a link that did not serve, if it needs one. */
export function toFailedLink(lost: LinkFailure): FailedLink | undefined {
  const { id: model, provider } = lost.link
  if ('untranslatable' in lost) {
    const field = lost.untranslatable.param ?? 'the request'
    const reason = `cannot express ${field}`
    return { model, provider: provider.name, reason, attempts: 0, failure: 'untranslatable' }
  }
  const { failure, attempts } = lost
  if (isLocalEnd(failure)) return undefined
  return {
    model,
    provider: provider.name,
    reason: describeFailure(failure),
    attempts,
    failure: failure.kind,
    status: failure.kind === 'status' ? failure.status : undefined,
    code: findErrorCode(failure),
  }
}
