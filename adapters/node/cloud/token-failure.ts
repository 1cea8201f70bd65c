import * as z from 'zod'
import { UpstreamFault } from '../../../src/core/failure.ts'
import { describeFailure } from '../../../src/core/failure-reason.ts'

/** A call for a token has failed. */
export class StatusError extends Error {
  override readonly name = 'StatusError'
  readonly status: number | undefined

  constructor(message: 'status' | 'timeout' | 'aborted' | 'size', status?: number) {
    super(message)
    this.status = status
  }
}

/** The members of errors of the packages that describe a failure without quoting anything. */
const tokenError = z.looseObject({
  message: z.string().catch(''),
  /** A code of the system, such as `ENOENT`. */
  code: z.union([z.string(), z.number()]).optional().catch(undefined),
  status: z.number().optional().catch(undefined),
})

/**
 * Describes why a cloud issues no token. The messages of its package may quote files and answers, so they are
 * only compared.
 */
export function describeTokenFailure(error: unknown, cloud: string): string {
  if (error instanceof UpstreamFault) {
    const { failure } = error
    return failure.kind === 'no-credential'
      ? failure.message
      : `${cloud} ${describeFailure(failure)}`
  }
  if (error instanceof StatusError && error.message === 'timeout') return 'it did not answer'
  // The package wraps the errors of the calls that the gateway makes for it.
  if (error instanceof Error && error.cause instanceof Error) {
    return describeTokenFailure(error.cause, cloud)
  }
  const { message, code, status } = tokenError.parse(error)
  const oauthCode = /^Error code (\w{1,64})\b/.exec(message)?.[1]
  if (oauthCode !== undefined) return `${cloud} answered ${oauthCode}`
  if (status !== undefined) return `it answered with status ${status}`
  return typeof code === 'string' && /^[A-Z]\w{0,63}$/.test(code)
    ? `it is not available (${code})`
    : 'its content or its answer is not valid'
}
