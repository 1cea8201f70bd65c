import { type Readable, unbuffered } from '../core/streams.ts'

/** The same stream as one of the platform's own class, for what takes no other. */
export function webStream(stream: Readable<Uint8Array>): ReadableStream<Uint8Array> {
  if (stream instanceof ReadableStream) return stream
  const reader = stream.getReader()
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    unbuffered,
  )
}
