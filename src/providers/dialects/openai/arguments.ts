import { textsAt } from '../../../wire/json-text.ts'
import { RawJson } from '../../../wire/raw-json.ts'
import { argumentsOf, type PastCall, type Raw, type WrittenAt } from './messages.ts'

/**
 * The arguments of a call for a kind that takes nothing but an object: the text that the model once
 * wrote, to the digit; none is `{}`. A torn text becomes the only member of an object: what a model once
 * wrote stays in the history.
 */
export function objectArguments(call: PastCall): RawJson | Raw {
  if (!isObjectText(call)) return { rawInvalidInput: call.arguments }
  const text = call.arguments.trim()
  return text.startsWith('{') ? new RawJson(text) : noArguments
}

/** Whether the arguments of a call are an object, or nothing at all; looked up once a call. */
export function isObjectText(call: PastCall): boolean {
  const known = objectTexts.get(call)
  if (known !== undefined) return known
  const isObject = argumentsOf(call) !== undefined
  objectTexts.set(call, isObject)
  return isObject
}

const objectTexts = new WeakMap<PastCall, boolean>()

const noArguments = new RawJson('{}')

/** The arguments of a call that a vendor has given as a value, of which this is the text. */
export function argumentsIn(text: string | undefined): string {
  return text === undefined || text === 'null' ? '{}' : text
}

const decoder = new TextDecoder()

/** Finds texts in the body of a request. All that are alike in their place are looked up at once. */
export function textsIn(body: Uint8Array): WrittenAt {
  const found = new Map<string, ReadonlyMap<string, string>>()
  return (path) => {
    const pattern = path.replace(/\.\d+(?=\.)/g, '.*')
    let texts = found.get(pattern)
    if (!texts) {
      texts = textsAt(decoder.decode(body), pattern)
      found.set(pattern, texts)
    }
    return texts.get(path) ?? ''
  }
}
