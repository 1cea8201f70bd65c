import { describe, expect, test } from 'vitest'
import { readError } from '../../support/gateway.ts'
import { json, whole } from '../../support/scripted-upstream.ts'
import { anthropicGateway, asking, waitForAnswer } from './support.ts'

describe('an invalid answer with status 200', () => {
  test.each([
    ['{"id":'],
    ['[]'],
    ['{"id":"msg_1","content":"text"}'],
    ['{"id":"msg_1","content":[{"text":"no type"}]}'],
  ])('the malformed body %s is retried, then fails with LM-3002', async (body) => {
    const gateway = await anthropicGateway()
    gateway.upstream.always(whole(body))
    const response = await waitForAnswer(gateway, gateway.chat(asking()))
    expect(response.status).toBe(502)
    expect((await readError(response))['code']).toBe('LM-3002')
    expect(gateway.upstream.requests).toHaveLength(3)
  })

  test.each([
    ['overloaded_error', 502, 'LM-3002', 'error', 3],
    ['rate_limit_error', 429, 'LM-3001', 'because', 3],
    ['invalid_request_error', 400, 'LM-3003', 'because', 1],
    ['authentication_error', 502, 'LM-3003', 'because', 1],
  ])(
    'the error %s in a 200 becomes status %i with %s',
    async (type, status, code, reason, calls) => {
      const gateway = await anthropicGateway()
      gateway.upstream.always(json({ type: 'error', error: { type, message: 'because' } }))
      const response = await waitForAnswer(gateway, gateway.chat(asking()))
      expect(response.status).toBe(status)
      const error = await readError(response)
      expect(error['code']).toBe(code)
      expect(error['message']).toContain(reason)
      expect(gateway.upstream.requests).toHaveLength(calls)
    },
  )
})

describe('an error status', () => {
  test.each([
    [400, 'invalid_request_error', 400, 'LM-3003', 1],
    [401, 'authentication_error', 502, 'LM-3003', 1],
    [402, 'billing_error', 502, 'LM-3003', 1],
    [403, 'permission_error', 502, 'LM-3003', 1],
    [404, 'not_found_error', 404, 'LM-3003', 1],
    [409, 'conflict_error', 409, 'LM-3003', 1],
    [413, 'request_too_large', 400, 'LM-2012', 1],
    [429, 'rate_limit_error', 429, 'LM-3001', 3],
    [500, 'api_error', 502, 'LM-3003', 3],
    [504, 'timeout_error', 502, 'LM-3003', 3],
    [529, 'overloaded_error', 502, 'LM-3003', 3],
  ])(
    'upstream %i %s becomes status %i with %s',
    async (upstreamStatus, type, status, code, calls) => {
      const gateway = await anthropicGateway()
      const body = { type: 'error', error: { type, message: 'because' }, request_id: 'req_1' }
      gateway.upstream.always(json(body, { status: upstreamStatus }))
      const response = await waitForAnswer(gateway, gateway.chat(asking()))
      expect(response.status).toBe(status)
      const error = await readError(response)
      expect(error['code']).toBe(code)
      expect(error['message']).toContain('because')
      expect(gateway.upstream.requests).toHaveLength(calls)
    },
  )
})
