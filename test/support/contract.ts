import { expect } from 'vitest'

/** The headers that SPEC 5.8 requires on every response. */
const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'",
} as const

export interface ErrorBody {
  readonly code: string
  readonly type: string
  readonly message: string
  readonly param: string | null
  readonly request_id: string
  readonly retry_after?: number
  /** The vendor's own error. */
  readonly upstream?: Readonly<Record<string, unknown>>
}

/** Checks the headers of every response, including streams and errors. */
export function expectCommonHeaders(response: Response): void {
  const carried = Object.keys(securityHeaders).map((name) => [name, response.headers.get(name)])
  expect(Object.fromEntries(carried)).toEqual(securityHeaders)
  expect(response.headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]{1,128}$/)
}

/** Checks that a response is an error of the documented shape, and returns its error object. */
export async function expectErrorShape(response: Response): Promise<ErrorBody> {
  expectCommonHeaders(response)
  expect(response.headers.get('content-type')).toBe('application/json')
  const text = await response.text()
  expect(response.headers.get('content-length')).toBe(String(new TextEncoder().encode(text).length))
  const body = JSON.parse(text) as { error: ErrorBody }
  expect(Object.keys(body)).toEqual(['error'])
  const { error } = body
  expect(Object.keys(error)).toEqual(
    expect.arrayContaining(['code', 'type', 'message', 'param', 'request_id']),
  )
  expect(error.request_id).toBe(response.headers.get('x-request-id'))
  expect(error.code).toMatch(/^LM-\d{4}$/)
  expect(error.message).not.toBe('')
  const retryAfter = response.headers.get('retry-after')
  expect(error.retry_after).toBe(retryAfter === null ? undefined : Number(retryAfter))
  return error
}
