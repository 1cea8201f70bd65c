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
  #probed: { readonly json: string; readonly value: Value | undefined } | undefined

  constructor(options: RepeatedJsonOptions<Value>) {
    const { readText, varying, counts } = options
    this.#options = options
    this.#pattern = new JsonPattern({
      readText: (json) => {
        const value = this.#probe(json)
        return value && readText(value)
      },
      varying,
      counts: counts && {
        names: counts.names,
        read: (json) => {
          const value = this.#probe(json)
          return value && counts.read(value)
        },
      },
    })
  }

  /** Reads a text in which the pattern tries values. Their text and their counts are asked for one after the other. */
  #probe(json: string): Value | undefined {
    if (this.#probed?.json === json) return this.#probed.value
    const value = this.#options.read(json)
    this.#probed = { json, value }
    return value
  }

  /** The value from which later texts may differ only in a text and in counts. */
  get learned(): Value | undefined {
    return this.#learned
  }

  /** Returns what differs between a text and the learned one; undefined for any other text. */
  match(json: string): Repeated | undefined {
    const repeated = this.#learned && this.#pattern.match(json)
    return repeated?.text ? repeated : undefined
  }

  /** Returns what `read` returns for a text, which may be no JSON. Parts of the value may be shared. */
  parse(json: string): Value | undefined {
    const repeated = this.match(json)
    return this.#learned && repeated
      ? this.#options.repeat(this.#learned, repeated)
      : this.learn(json)
  }

  /** Does the same for a text that does not match, and learns from it. */
  learn(json: string): Value | undefined {
    const { read, readText } = this.#options
    const value = read(json)
    const text = value && readText(value)
    if (text && this.#pattern.learn(json, text)) this.#learned = value
    this.#probed = undefined
    return value
  }
}
