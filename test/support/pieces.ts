import type { Responder } from './scripted-upstream.ts'

/**
 * An event stream that returns exactly one of these pieces per read, as if the network had
 * delivered them one by one.
 */
export function pieces(
  chunks: readonly Uint8Array[],
  contentType = 'text/event-stream',
): Responder {
  return async () => {
    let at = 0
    let open = true
    const close = () => {
      open = false
    }
    return {
      status: 200,
      header: (name) => (name === 'content-type' ? contentType : undefined),
      body: { read: async () => (open ? chunks[at++] : undefined), cancel: close, drain: close },
    }
  }
}

/** Returns every split of these bytes in two. */
export function* cutsOf(bytes: Uint8Array): Generator<readonly [Uint8Array, Uint8Array]> {
  for (let at = 1; at < bytes.length; at++) yield [bytes.subarray(0, at), bytes.subarray(at)]
}

/** Returns the bytes one by one. */
export function singly(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))
}
