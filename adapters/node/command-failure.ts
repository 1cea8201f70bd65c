/** What a command ends with: 1 for trouble at run time, 2 for bad usage or configuration. */
export type FailureCode = 1 | 2

/** Ends a command with lines for standard error and an exit code. */
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
