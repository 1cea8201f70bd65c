import { errorFields } from '../../../src/core/error-fields.ts'

/** The exit code of a failed command: 1 for a failure at run time, 2 for bad usage or configuration. */
export type FailureCode = 1 | 2

/** A failure that ends the command with an exit code and lines on standard error. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly exitCode: FailureCode
  readonly lines: readonly string[]

  constructor(exitCode: FailureCode, ...lines: readonly string[]) {
    super(lines.join('\n'))
    this.exitCode = exitCode
    this.lines = lines
  }
}

/** The end of a message about bad usage. */
export const usageHint = "run 'gateway --help' for usage"

/** Returns the line for an error that nothing expects. */
export function describeUnexpected(error: unknown): string {
  return `unexpected error: ${JSON.stringify(errorFields(error))}`
}
