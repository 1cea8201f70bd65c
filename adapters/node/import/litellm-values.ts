import type { Environment } from '../../../src/index.ts'
import type { Notes } from './litellm-notes.ts'

export interface ReaderOptions {
  readonly env: Environment
  /** What precedes the name of a setting in notes. */
  readonly place: string
  readonly notes: Notes
}

/** Reads the settings of a table whose value may be `os.environ/NAME`. */
export class ValueReader {
  readonly #table: Readonly<Record<string, unknown>>
  readonly #options: ReaderOptions
  /** Why the first value that cannot be read cannot be. */
  problem: string | undefined

  constructor(table: Readonly<Record<string, unknown>>, options: ReaderOptions) {
    this.#table = table
    this.#options = options
  }

  /** Returns a text. The file of the gateway names no variables for texts, so it gets the present value. */
  text(name: string): string | undefined {
    const value = this.#table[name]
    if (typeof value === 'number') return String(value)
    if (typeof value !== 'string' || value === '') return undefined
    const variable = findVariable(value)
    if (variable === undefined) return this.#checkText(name, value)
    const { env } = this.#options
    const found = env[variable]
    if (!found || hasCredential(found)) {
      const state = found ? 'holds an address with a credential' : 'is not set'
      this.problem ??= `${name} is in the variable ${variable}, which ${state}; set it for this command, or write the value into the file`
      return undefined
    }
    this.#noteValue(name, variable)
    return found
  }

  /** Returns the value of a variable that LiteLLM reads when the setting is absent. */
  textOf(name: string, variables: readonly string[]): string | undefined {
    const { env } = this.#options
    const variable = variables.find((each) => env[each])
    const found = variable === undefined ? undefined : env[variable]
    if (variable === undefined || found === undefined) return undefined
    if (hasCredential(found)) {
      this.problem ??= `the variable ${variable} holds an address with a credential`
      return undefined
    }
    this.#noteValue(name, variable)
    return found
  }

  /** Returns the variable of a secret. One in the file itself is noted without its value. */
  variable(name: string): string | undefined {
    const value = this.#table[name]
    if (typeof value !== 'string' || value === '') return undefined
    const variable = findVariable(value)
    const { place, notes } = this.#options
    if (variable === undefined) {
      notes.left.push(`${place}${name}: put this key into a variable, and name it in api_key_env`)
    }
    return variable
  }

  /** Notes why a setting, if it is there, is not used. */
  leave(name: string, reason: string): undefined {
    const { place, notes } = this.#options
    if (this.has(name)) notes.left.push(`${place}${name}: ${reason}`)
  }

  has(name: string): boolean {
    const value = this.#table[name]
    return value !== undefined && value !== null && value !== ''
  }

  #checkText(name: string, value: string): string | undefined {
    if (!hasCredential(value)) return value
    this.problem ??= `${name} is an address with a credential`
    return undefined
  }

  #noteValue(name: string, variable: string): void {
    const { place, notes } = this.#options
    notes.next.push(`${place}${name}: this is the value that ${variable} has now`)
  }
}

/** Returns the variable that a value names; undefined for any other value. */
export function findVariable(value: string): string | undefined {
  return /^os\.environ\/(\w+)$/.exec(value)?.[1]
}

/** Whether a text is an address that may have a secret in it: before the host, or in its query. */
export function hasCredential(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { username, password, searchParams } = new URL(text)
  const isPlain = [...searchParams.keys()].every((name) => name === 'api-version')
  return username !== '' || password !== '' || !isPlain
}
