/** A configuration that cannot serve, with one line for each of its problems. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`invalid configuration:\n${problems.join('\n')}`)
    this.problems = problems
  }
}

/** A configuration that is valid, but the system does not give what it needs: the database. */
export class StartError extends Error {
  override readonly name = 'StartError'
}
