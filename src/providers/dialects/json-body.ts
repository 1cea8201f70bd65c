const encoder = new TextEncoder()

/** The body of a request; absent members are left out. */
export function jsonBody(value: object): Uint8Array {
  return encoder.encode(JSON.stringify(value))
}
