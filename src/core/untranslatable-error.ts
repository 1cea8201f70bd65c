import { type GatewayError, invalid } from './errors.ts'

/**
 * The request has no form in the dialect of one link. That is neither a failure of the upstream nor
 * yet a mistake of the client: the next link may be able to send it.
 */
export class UntranslatableError extends Error {
  override readonly name = 'UntranslatableError'
  /** The field that has no form there, as a dotted path; undefined where it is the whole request. */
  readonly param: string | undefined

  constructor(message: string, param?: string) {
    super(message)
    this.param = param
  }

  /** LM-1001, for a request that no link can express. */
  toError(): GatewayError {
    return invalid(this.message, this.param)
  }
}
