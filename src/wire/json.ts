const decoder = new TextDecoder()

/** The value of a JSON text; undefined, which no JSON text means, when it is none. */
export function jsonIn(source: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof source === 'string' ? source : decoder.decode(source))
  } catch {
    return undefined
  }
}
