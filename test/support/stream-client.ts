import { expect } from 'vitest'
import type { LogLine, TestGateway } from './gateway.ts'

/** A streamed chat request for model `m` with additional fields. */
export function streamed(more: object = {}): object {
  return { model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }], ...more }
}

export const includeUsage = { stream_options: { include_usage: true } } as const

/** Sends one streamed request, reads it to the end, and returns the result. */
export async function readStream(
  { chat }: Pick<TestGateway, 'chat'>,
  more: object = {},
): Promise<string> {
  const response = await chat(streamed(more), { headers: { 'x-request-id': 'fixed' } })
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await response.arrayBuffer())
}

/** The terminal frame for the request id `fixed`. */
export function terminal(
  message: string,
  { code = 'LM-3010', upstream }: { readonly code?: string; readonly upstream?: object } = {},
): string {
  const error = {
    code,
    type: 'upstream_error',
    message,
    param: null,
    request_id: 'fixed',
    upstream,
  }
  return `data: ${JSON.stringify({ error })}\n\n`
}

/** A client that reads its stream chunk by chunk. */
export class StreamReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder = new TextDecoder()

  constructor(response: Response) {
    if (!response.body) throw new Error('the answer has no body')
    this.#reader = response.body.getReader()
  }

  /** Returns the next chunk as text; undefined at the end. */
  async next(): Promise<string | undefined> {
    const { done, value } = await this.#reader.read()
    return done ? undefined : this.#decoder.decode(value)
  }

  /** Returns the rest of the stream. */
  async rest(): Promise<string> {
    let text = ''
    for (let next = await this.next(); next !== undefined; next = await this.next()) text += next
    return text
  }

  /** Cancels the stream. */
  async leave(): Promise<void> {
    await this.#reader.cancel()
  }
}

/** Returns the fields of the log line of a finished request; there must be exactly one. */
export function settlement(log: readonly LogLine[]): Readonly<Record<string, unknown>> {
  const lines = log.filter(({ message }) => message === 'request')
  expect(lines).toHaveLength(1)
  return lines[0]?.fields ?? {}
}
