/** Where a setting stands in the configuration: table names, keys and array positions. */
export type Path = readonly (string | number)[]

/** A broken rule, before anyone has looked up where in the file it is broken. */
export interface Finding {
  readonly path: Path
  readonly message: string
  /** The valid name that was probably meant. */
  readonly suggestion?: string | undefined
  /** The other place that this one collides with. */
  readonly clash?: Path | undefined
}

/** A broken rule as an operator gets to see it. */
export interface Problem {
  /** The dotted setting, or the variable that names none. Empty where the text is no TOML. */
  readonly setting: string
  readonly line?: number | undefined
  /** Only for text that is no TOML. */
  readonly column?: number | undefined
  readonly message: string
  /** The valid name that was probably meant. */
  readonly suggestion?: string | undefined
}

/** One line for a log or a terminal: `server.prot (line 3): unknown setting; did you mean "port"?` */
export function renderProblem({ setting, line, column, message, suggestion }: Problem): string {
  const hint = suggestion === undefined ? '' : `; did you mean ${quote(suggestion)}?`
  const place = setting === '' ? `line ${line}, column ${column}` : formatSetting(setting, line)
  return `${place}: ${message}${hint}`
}

/** A setting and, where known, its line. */
export function formatSetting(setting: string, line: number | undefined): string {
  return line === undefined ? setting : `${setting} (line ${line})`
}

/** The dotted name of a setting: `providers[0].models[1].id`. */
export function formatPath(path: Path): string {
  return path.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`
    const key = bareKey.test(part) ? part : quote(part)
    return name === '' ? key : `${name}.${key}`
  }, '')
}

const bareKey = /^[A-Za-z0-9_-]{1,100}$/

/** A name from the file, made safe and short enough for a line of output. */
export function quote(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)
}

/** A message and, where there is one, a rule that helps to put it right. */
export function withNote(message: string, note: string | undefined): string {
  return note === undefined ? message : `${message}: ${note}`
}
