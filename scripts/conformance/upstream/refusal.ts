/** An error answer. Each vendor has its own form for it. */
export class Refusal extends Error {
  readonly status: number
  /** Seconds. */
  readonly retryAfter: number | undefined
  /** Whether the scenario asks for the error. Any other refusal is a fault of the request. */
  readonly isScripted: boolean

  constructor(
    status: number,
    message: string,
    options: { readonly retryAfter?: number; readonly isScripted?: boolean } = {},
  ) {
    super(message)
    this.status = status
    this.retryAfter = options.retryAfter
    this.isScripted = options.isScripted ?? false
  }
}

/** Throws a 400 unless the condition holds. */
export function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Refusal(400, message)
}
