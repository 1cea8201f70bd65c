import { type CountOptions, JsonPattern, type Repeated } from './pattern.ts'

export interface RepeatedJsonOptions<Value> {
  /** Reads a JSON text, which may be none; undefined when it is not what was expected. */
  readonly read: (json: string) => Value | undefined
  /** Returns the text of a value that may differ; undefined for a value without one. */
  readonly readText: (value: Value) => string | undefined
  /** Returns the value with another text and other counts. */
  readonly repeat: (value: Value, repeated: Repeated) => Value
  /** Names of further members that may differ. `read` must not depend on them. */
  readonly varying?: readonly string[]
  readonly counts?: CountOptions<Value>
}

/**
 * Parses the JSON texts of one stream. Those that differ from an earlier one only in a text and in counts are not
 * parsed.
 */
export class RepeatedJson<Value> {
  readonly #options: RepeatedJsonOptions<Value>
  readonly #pattern: JsonPattern
  #learned: Value | undefined

  constructor(options: RepeatedJsonOptions<Value>) {
    const { read, readText, varying, counts } = options
    this.#options = options
    this.#pattern = new JsonPattern({
      readText: (json) => {
        const value = read(json)
        return value && readText(value)
      },
      varying,
      counts: counts && {
        names: counts.names,
        read: (json) => {
          const value = read(json)
          return value && counts.read(value)
        },
      },
    })
  }

  /** Returns what `read` returns for a text, which may be no JSON. Parts of the value may be shared. */
  parse(json: string): Value | undefined {
    const { read, readText, repeat } = this.#options
    const repeated = this.#learned && this.#pattern.match(json)
    if (this.#learned && repeated?.text) return repeat(this.#learned, repeated)
    const value = read(json)
    const text = value && readText(value)
    if (text && this.#pattern.learn(json, text)) this.#learned = value
    return value
  }
}
