import { stringifyJson } from '../../wire/raw-json.ts'

const encoder = new TextEncoder()

/** The body of a request; absent members are left out, raw JSON goes in as it is. */
export function jsonBody(value: object): Uint8Array {
  return encoder.encode(stringifyJson(value))
}
