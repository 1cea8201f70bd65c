import * as z from 'zod'
import { UpstreamFault } from '../../../src/core/failure.ts'
import { describeFailure } from '../../../src/core/failure-reason.ts'

/** A call of this host to a service of Google has failed. */
export class StatusError extends Error {
  override readonly name = 'StatusError'
  readonly status: number | undefined

  constructor(message: 'status' | 'timeout' | 'aborted' | 'size', status?: number) {
    super(message)
    this.status = status
  }
}

/** The members of errors of Google's package that describe a failure without quoting anything. */
const googleError = z.looseObject({
  message: z.string().catch(''),
  /** A code of the system, such as `ENOENT`. */
  code: z.union([z.string(), z.number()]).optional().catch(undefined),
  status: z.number().optional().catch(undefined),
})

/**
 * Describes why there is no token. The messages of Google's package may quote files and answers, so they are
 * only compared.
 */
export function describeGoogleFailure(error: unknown): string {
  if (error instanceof UpstreamFault) {
    const { failure } = error
    return failure.kind === 'no-credential' ? failure.message : `Google ${describeFailure(failure)}`
  }
  if (error instanceof StatusError && error.message === 'timeout') return 'it did not answer'
  // The package wraps the errors of the calls that the gateway makes for it.
  if (error instanceof Error && error.cause instanceof Error) {
    return describeGoogleFailure(error.cause)
  }
  const { message, code, status } = googleError.parse(error)
  const oauthCode = /^Error code (\w{1,64})\b/.exec(message)?.[1]
  if (oauthCode !== undefined) return `Google answered ${oauthCode}`
  if (status !== undefined) return `it answered with status ${status}`
  return typeof code === 'string' && /^[A-Z]\w{0,63}$/.test(code)
    ? `it is not available (${code})`
    : 'its content or its answer is not valid'
}
