import { isObject } from '../../wire/json.ts'
import { scanLayout } from '../../wire/json-scan.ts'
import { RawJson } from '../../wire/raw-json.ts'

interface CallFields {
  /** The client's id; made up from the position, the same every time, where there is none. */
  readonly id: string
  readonly name: string
  /** JSON text as the model wrote it: may be empty or broken. */
  readonly arguments: string
  /** The dotted path, for error messages. */
  readonly path: string
  /** The client's own object. */
  readonly raw: Readonly<Record<string, unknown>>
}

/** A call that an earlier answer made. A legacy `function_call` and custom calls look like others. */
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

  /** Whether the arguments are an object, or nothing at all; looked up once for all links. */
  get hasObject(): boolean {
    this.#hasObject ??= isObjectText(this.arguments)
    return this.#hasObject
  }

  /**
   * The arguments for a kind that takes nothing but an object: the text that the model once wrote, to
   * the digit; none is `{}`. A torn text becomes the only member of an object: what a model once wrote
   * stays in the history.
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

/** As deep as a request may nest: writing an object that is much deeper overflows the stack. */
const maxDepth = 128

function isTooDeep(json: string): boolean {
  // Each level takes two characters, so that few texts have to be looked at.
  return json.length > 2 * maxDepth && scanLayout(encoder.encode(json), []).depth > maxDepth
}

const encoder = new TextEncoder()
