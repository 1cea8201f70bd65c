import type { Body, BufferedBody, HeaderList } from './ports.ts'

/** An answer on its way out, before the headers that every answer carries are put on. */
export interface Reply {
  readonly status: number
  readonly headers: HeaderList
  readonly body: Body | null
  /** What a page may load, for browsers; nothing by default. */
  readonly contentPolicy?: string | undefined
}

const encoder = new TextEncoder()

/** A JSON answer. */
export function jsonReply(value: unknown, status = 200): Reply {
  return jsonBytes(encoder.encode(JSON.stringify(value)), { status })
}

/** A JSON answer of bytes that are JSON already. */
export function jsonBytes(
  body: BufferedBody,
  { status = 200, headers = [] }: { status?: number; headers?: HeaderList } = {},
): Reply {
  return { status, headers: [...jsonHeaders(body.length), ...headers], body }
}

/** The headers of a JSON answer of so many bytes. */
export function jsonHeaders(length: number): HeaderList {
  return ['content-type', 'application/json', 'content-length', String(length)]
}
