import { headerEntries, isBuffered, type MakeResponse } from '../core/ports.ts'
import type { StreamClasses } from '../core/streams.ts'
import { toWebStream } from '../wire/convert-stream.ts'

/** Makes responses of the platform's own class. */
export const webResponse: MakeResponse = (parts) => {
  const { status, body } = parts
  const streamed = body === null || isBuffered(body) ? body : toWebStream(body)
  // The types of some hosts exclude views of shared memory, which nothing here makes.
  return new Response(streamed as BodyInit | null, { status, headers: headerEntries(parts) })
}

/**
 * The platform's streams. Node loads them when they are first read, and its host has streams of its own.
 * Their types accept only their own stages, and a chain has no others.
 */
export const webStreams = {
  get ReadableStream() {
    return ReadableStream
  },
  get TransformStream() {
    return TransformStream
  },
} as unknown as StreamClasses
