import { isObject } from '../../wire/json/parse.ts'
import { RawJson } from '../../wire/json/raw.ts'
import { scanLayout } from '../../wire/json/scan.ts'

interface CallFields {
  /** The client's id, or an id derived from the position when there is none. */
  readonly id: string
  readonly name: string
  /** JSON text as the model wrote it; may be empty or malformed. */
  readonly arguments: string
  /** The dotted path, for error messages. */
  readonly path: string
  /** The client's own object. */
  readonly raw: Readonly<Record<string, unknown>>
}

/** A tool call of an earlier answer; includes the legacy `function_call` and custom calls. */
export class PastCall implements CallFields {
  readonly id: string
  readonly name: string
  readonly arguments: string
  readonly path: string
  readonly raw: CallFields['raw']
  #hasObject: boolean | undefined

  constructor({ id, name, arguments: text, path, raw }: CallFields) {
    this.id = id
    this.name = name
    this.arguments = text
    this.path = path
    this.raw = raw
  }

  /** Whether the arguments are an object or empty. Computed once for all links. */
  get hasObject(): boolean {
    this.#hasObject ??= isObjectText(this.arguments)
    return this.#hasObject
  }

  /**
   * The arguments for a kind that accepts only an object: the exact text that the model wrote, or `{}`
   * when it is empty. Malformed text becomes the only member of an object, so that it stays in the history.
   */
  get object(): object {
    if (!this.hasObject) return { rawInvalidInput: this.arguments }
    const text = this.arguments.trim()
    return text.startsWith('{') ? new RawJson(text) : noArguments
  }
}

const noArguments = new RawJson('{}')

function isObjectText(text: string): boolean {
  if (text.trim() === '') return true
  try {
    const value: unknown = JSON.parse(text)
    return value === null || (isObject(value) && !isTooDeep(text))
  } catch {
    return false
  }
}

/** The nesting limit of requests. Serializing a much deeper object overflows the stack. */
const maxDepth = 128

function isTooDeep(json: string): boolean {
  // Each level takes two characters, so short texts need no scan.
  return json.length > 2 * maxDepth && scanLayout(encoder.encode(json), []).depth > maxDepth
}

const encoder = new TextEncoder()
