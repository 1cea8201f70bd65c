/** An error answer. Each vendor has its own form for it. */
export class Refusal extends Error {
  readonly status: number
  /** Seconds. */
  readonly retryAfter: number | undefined
  /** Further members of the error, where the vendor has them. */
  readonly details: object | undefined
  /** Whether the scenario asks for the error. Any other refusal is a fault of the request. */
  readonly isScripted: boolean

  constructor(status: number, message: string, options: RefusalOptions = {}) {
    super(message)
    this.status = status
    this.retryAfter = options.retryAfter
    this.details = options.details
    this.isScripted = options.isScripted ?? false
  }
}

interface RefusalOptions {
  readonly retryAfter?: number
  readonly details?: object
  readonly isScripted?: boolean
}

/** Throws a 400 unless the condition holds. */
export function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Refusal(400, message)
}
