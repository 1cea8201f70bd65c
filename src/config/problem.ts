/** The path of a setting: table names, keys and array positions. */
export type Path = readonly (string | number)[]

/** A broken rule, before its line is known. */
export interface Finding {
  readonly path: Path
  readonly message: string
  /** The valid name that is probably meant. */
  readonly suggestion?: string | undefined
  /** The other setting that this one collides with. */
  readonly clash?: Path | undefined
}

/** A broken rule as it is shown to operators. */
export interface Problem {
  /** The dotted name of the setting, or the name of a variable. Empty when the text is not TOML. */
  readonly setting: string
  readonly line?: number | undefined
  /** Only when the text is not TOML. */
  readonly column?: number | undefined
  readonly message: string
  /** The valid name that is probably meant. */
  readonly suggestion?: string | undefined
}

/** Renders one line: `server.prot (line 3): unknown setting; did you mean "port"?` */
export function renderProblem({ setting, line, column, message, suggestion }: Problem): string {
  const hint = suggestion === undefined ? '' : `; did you mean ${quoteName(suggestion)}?`
  const place = setting === '' ? `line ${line}, column ${column}` : formatSetting(setting, line)
  return `${place}: ${message}${hint}`
}

/** Like `renderProblem`, with the name of the file in front when the text is not TOML. */
export function renderFileProblem(problem: Problem, file: string | undefined): string {
  const line = renderProblem(problem)
  return problem.setting === '' && file !== undefined ? `${file}, ${line}` : line
}

/** Formats a setting with its line, if known. */
export function formatSetting(setting: string, line: number | undefined): string {
  return line === undefined ? setting : `${setting} (line ${line})`
}

/** Formats the dotted name of a setting: `providers[0].models[1].id`. */
export function formatPath(path: Path): string {
  return path.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`
    const key = bareKey.test(part) ? part : quoteName(part)
    return name === '' ? key : `${name}.${key}`
  }, '')
}

const bareKey = /^[A-Za-z0-9_-]{1,100}$/

/** Quotes a name from the file, escaped and shortened for a line of output. */
export function quoteName(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)
}

/** Appends a note to a message, if there is one. */
export function withNote(message: string, note: string | undefined): string {
  return note === undefined ? message : `${message}: ${note}`
}
