/** The configuration is invalid. `problems` has one line for each problem. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`invalid configuration:\n${problems.join('\n')}`)
    this.problems = problems
  }
}

/** The configuration is valid, but the gateway cannot start: its database cannot be used. */
export class StartError extends Error {
  override readonly name = 'StartError'
}
