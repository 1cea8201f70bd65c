import { describe, expect, test } from 'vitest'
import { readError } from '../../support/gateway.ts'
import { json } from '../../support/scripted-upstream.ts'
import { apiKey, asking, bedrockGateway, waitForAnswer } from './support.ts'

interface Refused {
  readonly type?: string
  readonly message?: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

/** Returns how the gateway answers an upstream error, and after how many calls. */
async function refusal(
  status: number,
  { type, message = 'Just because.', body, headers }: Refused = {},
) {
  const gateway = await bedrockGateway()
  const named = type === undefined ? {} : { 'x-amzn-errortype': type }
  gateway.upstream.always(json({ message, ...body }, { status, headers: { ...named, ...headers } }))
  const response = await waitForAnswer(gateway, gateway.chat(asking()))
  const { code, message: text } = await readError(response)
  return { status: response.status, code, text, calls: gateway.upstream.requests.length }
}

describe('an error status', () => {
  test.each([
    [429, 'ThrottlingException', 429, 'LM-3001', 3],
    [429, 'ModelNotReadyException', 429, 'LM-3001', 3],
    [408, 'ModelTimeoutException', 504, 'LM-3005', 3],
    [424, 'ModelErrorException', 502, 'LM-3003', 3],
    [424, 'ModelStreamErrorException', 502, 'LM-3003', 3],
    [424, undefined, 502, 'LM-3003', 3],
    [500, 'InternalServerException', 502, 'LM-3003', 3],
    [503, 'ServiceUnavailableException', 502, 'LM-3003', 3],
    [400, 'ValidationException', 400, 'LM-3003', 1],
    [400, undefined, 400, 'LM-3003', 1],
    [400, 'ConflictException', 400, 'LM-3003', 1],
    [400, 'ServiceQuotaExceededException', 502, 'LM-3003', 1],
    [404, 'ResourceNotFoundException', 404, 'LM-3003', 1],
    [404, 'UnknownOperationException', 404, 'LM-3003', 1],
    [404, 'FTUFormNotFilled', 502, 'LM-3003', 1],
    [403, 'AccessDeniedException', 502, 'LM-3003', 1],
    [403, 'InvalidSignatureException', 502, 'LM-3003', 1],
    [403, 'ExpiredTokenException', 502, 'LM-3003', 1],
    [403, undefined, 502, 'LM-3003', 1],
    [400, 'IncompleteSignature', 502, 'LM-3003', 1],
    [400, 'RequestExpired', 502, 'LM-3003', 1],
  ])('upstream %i %s becomes %i %s after %i calls', async (status, type, answered, code, calls) => {
    const refused = await refusal(status, type === undefined ? {} : { type })
    expect(refused).toMatchObject({ status: answered, code, calls })
    expect(refused.text).toContain('Just because.')
  })

  test.each([
    ['a header with its address', { type: 'RequestExpired:http://internal.amazon.com/coral/' }],
    ['a body with its namespace', { body: { __type: 'com.amazon.coral.service#RequestExpired' } }],
    ['a code', { body: { code: 'RequestExpired' } }],
  ])('the type of an error is read from %s', async (_, refused) => {
    expect((await refusal(400, refused)).status).toBe(502)
  })

  test.each([
    [400, 424, 1],
    [429, 502, 3],
    [500, 502, 3],
  ])(
    'a model error with the original status %i becomes %i',
    async (originalStatusCode, answered, calls) => {
      const type = 'ModelErrorException'
      const refused = await refusal(424, { type, body: { originalStatusCode } })
      expect(refused).toMatchObject({ status: answered, code: 'LM-3003', calls })
    },
  )

  test('the message is read from Message as well as from message', async () => {
    const { text } = await refusal(400, { body: { message: undefined, Message: 'In capitals.' } })
    expect(text).toMatch(/: In capitals\.$/)
  })

  const id = 'AKIA1234567890123456'
  const key = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
  const token = 'IQoJb3JpZ2luX2VjEXAMPLETOKEN//////////wEaCXVzLWVhc3QtMSJHMEUCIQ'

  test.each([
    ['an API key', apiKey],
    ['three parts', `${id}:${key}:${token}`],
    ['JSON', JSON.stringify({ access_key_id: id, secret_access_key: key, session_token: token })],
  ])('the message of an error never shows a credential of %s', async (_, secret) => {
    const { chat, upstream } = await bedrockGateway({ secret })
    // AWS quotes the request whose signature it has checked, token included.
    const quoted = `${'x'.repeat(230)} should have been 'POST ${token} ${key} ${apiKey}'`
    upstream.next(json({ message: quoted }, { status: 403 }))
    const text = await (await chat(asking())).text()
    expect(text).toContain('should have been')
    for (const piece of secret.includes(key) ? [key, token] : [apiKey]) {
      expect(text).not.toContain(piece.slice(0, 12))
    }
  })
})
