import { type ErrorCode, GatewayError } from './errors.ts'

export interface UntranslatableDetail {
  /** The code of the error when no link can express the request; LM-1001 by default. */
  readonly code?: ErrorCode
  /** Further fields of the error object. */
  readonly fields?: Readonly<Record<string, unknown>>
}

/**
 * The request cannot be expressed in the dialect of one link. That is neither an upstream failure nor
 * yet a client error: the next link of the chain may be able to send it.
 */
export class UntranslatableError extends Error {
  override readonly name = 'UntranslatableError'
  /** The dotted path of the field at fault; undefined when it is the whole request. */
  readonly param: string | undefined
  readonly #detail: UntranslatableDetail

  constructor(message: string, param?: string, detail: UntranslatableDetail = {}) {
    super(message)
    this.param = param
    this.#detail = detail
  }

  /** Returns the error for a request that no link can express. */
  toError(): GatewayError {
    const { code = 'LM-1001', fields } = this.#detail
    return new GatewayError(code, this.message, { param: this.param, fields })
  }
}
