import { type GatewayError, invalid } from './errors.ts'

/**
 * The request cannot be expressed in the dialect of one link. That is neither an upstream failure nor
 * yet a client error: the next link of the chain may be able to send it.
 */
export class UntranslatableError extends Error {
  override readonly name = 'UntranslatableError'
  /** The dotted path of the field at fault; undefined when it is the whole request. */
  readonly param: string | undefined

  constructor(message: string, param?: string) {
    super(message)
    this.param = param
  }

  /** Returns the LM-1001 error for a request that no link can express. */
  toError(): GatewayError {
    return invalid(this.message, this.param)
  }
}
