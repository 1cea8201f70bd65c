import { type Readable, type Source, unbuffered } from '../core/streams.ts'

/** A stream of any class that has no reader yet. */
export type UnreadStream = Pick<Readable<Uint8Array>, 'getReader'>

/** Converts a stream to the platform's `ReadableStream`. */
export function toWebStream(stream: UnreadStream): ReadableStream<Uint8Array> {
  if (stream instanceof ReadableStream) return stream
  return new ReadableStream(toSource(stream), unbuffered)
}

/** Returns the chunks of `stream` as the source for a stream of another class. */
export function toSource(stream: UnreadStream): Source<Uint8Array> {
  const reader = stream.getReader()
  return {
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  }
}
