import type { Body, WholeBody } from './ports.ts'

/** An answer on its way out, before the headers that every answer carries are put on. */
export interface Reply {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Body | null
}

const encoder = new TextEncoder()

/** A JSON answer. */
export function jsonReply(value: unknown, status = 200): Reply {
  return jsonBytes(encoder.encode(JSON.stringify(value)), { status })
}

/** A JSON answer of bytes that are JSON already. */
export function jsonBytes(
  body: WholeBody,
  { status = 200, headers = {} }: { status?: number; headers?: Reply['headers'] } = {},
): Reply {
  return {
    status,
    headers: {
      'content-type': 'application/json',
      'content-length': String(body.length),
      ...headers,
    },
    body,
  }
}
