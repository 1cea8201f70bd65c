import { type Readable, type Source, unbuffered } from '../core/streams.ts'

/** A stream that nobody reads yet, of whatever class. */
export type Unread = Pick<Readable<Uint8Array>, 'getReader'>

/** The same stream as one of the platform's own class, for what takes no other. */
export function webStream(stream: Unread): ReadableStream<Uint8Array> {
  if (stream instanceof ReadableStream) return stream
  return new ReadableStream(sourceOf(stream), unbuffered)
}

/** What a stream of another class takes the same chunks from. */
export function sourceOf(stream: Unread): Source<Uint8Array> {
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
