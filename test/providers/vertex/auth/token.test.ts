import { createPrivateKey } from 'node:crypto'
import { importSPKI, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { broken, json, silent, whole } from '../../../support/scripted-upstream.ts'
import {
  authorizedUser,
  bench,
  failureOf,
  formOf,
  publicKey,
  serviceAccount,
  token,
  tokenUri,
} from '../support.ts'

describe('a service account', () => {
  test('a service account exchanges a signed assertion for a token', async () => {
    const { headers, upstream, clock } = bench(serviceAccount)
    upstream.next(token('t1'))
    expect(await headers()).toEqual({ authorization: 'Bearer t1' })
    expect(upstream.requests).toHaveLength(1)
    expect(upstream.requests[0]).toMatchObject({
      method: 'POST',
      url: tokenUri,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    const { assertion = '', ...rest } = formOf(upstream)
    expect(rest).toEqual({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer' })
    const { payload, protectedHeader } = await jwtVerify(
      assertion,
      await importSPKI(publicKey, 'RS256'),
      { currentDate: new Date(clock.now()) },
    )
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'kid-1' })
    expect(payload).toEqual({
      iss: 'gw@sa-proj.iam.gserviceaccount.com',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: tokenUri,
      iat: 1_764_000_000,
      exp: 1_764_003_600,
    })
  })

  test('the exchange uses the token_uri of the credentials', async () => {
    const { headers, upstream } = bench({ ...serviceAccount, token_uri: 'http://127.0.0.1:1/t' })
    upstream.next(token('t1'))
    await headers()
    expect(upstream.requests[0]?.url).toBe('http://127.0.0.1:1/t')
  })

  test('an assertion without a key id has no kid header', async () => {
    const { headers, upstream } = bench({ ...serviceAccount, private_key_id: undefined })
    upstream.next(token('t1'))
    await headers()
    const [head = ''] = formOf(upstream).assertion?.split('.') ?? []
    expect(JSON.parse(atob(head))).toEqual({ alg: 'RS256', typ: 'JWT' })
  })

  test('a quota project is sent with each request', async () => {
    const { headers, upstream } = bench({ ...serviceAccount, quota_project_id: 'payer' })
    upstream.next(token('t1'))
    expect(await headers()).toEqual({
      authorization: 'Bearer t1',
      'x-goog-user-project': 'payer',
    })
  })

  test.each([
    ['not PEM', 'canary'],
    [
      'a truncated PKCS#1 key',
      '-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----',
    ],
    [
      'a PKCS#1 key that is not base64',
      '-----BEGIN RSA PRIVATE KEY-----\n=A==\n-----END RSA PRIVATE KEY-----',
    ],
    ['a truncated PKCS#8 key', serviceAccount.private_key.replace(/\n.{30}/, '\n')],
  ])('a private_key that is %s fails the request without any call', async (_, key) => {
    const { headers, upstream } = bench({ ...serviceAccount, private_key: key })
    expect(await failureOf(headers())).toEqual({
      kind: 'no-credential',
      message:
        'the Google credential cannot be used: its private_key is not a PKCS#8 or PKCS#1 RSA key of at least 2048 bits',
    })
    expect(upstream.requests).toEqual([])
  })
})
test('a service account may have a PKCS#1 key', async () => {
  const key = createPrivateKey(serviceAccount.private_key)
  for (const form of [
    String(key.export({ type: 'pkcs1', format: 'pem' })),
    String(key.export({ type: 'pkcs1', format: 'pem' })).replaceAll('\n', String.raw`\n`),
  ]) {
    const { headers, upstream } = bench({ ...serviceAccount, private_key: form })
    upstream.next(token('t1'))
    expect(await headers()).toEqual({ authorization: 'Bearer t1' })
    const { assertion } = Object.fromEntries(new URLSearchParams(upstream.text()))
    const verified = await jwtVerify(assertion ?? '', await importSPKI(publicKey, 'RS256'), {
      currentDate: new Date(1_764_000_000_000),
    })
    expect(verified.payload.iss).toBe(serviceAccount.client_email)
  }
})
describe('the lifetime of a token', () => {
  /** How long a token is used, in seconds. */
  const useOf = async (expiresIn: unknown) => {
    const { headers, upstream, clock } = bench(authorizedUser)
    const body = { access_token: 't', expires_in: expiresIn, token_type: 'Bearer' }
    upstream.always(json(body))
    await headers()
    for (let seconds = 0; seconds < 4000; seconds += 30) {
      await headers()
      if (upstream.requests.length > 1) return seconds
      await clock.advance(30_000)
    }
    return Number.POSITIVE_INFINITY
  }

  test.each([
    ['a number', 3600, 3300],
    ['a text', '3600', 3300],
    ['nothing', undefined, 3300],
    ['zero', 0, 30],
    ['a negative number', -1, 30],
    ['null', null, 30],
    ['a word', 'soon', 30],
  ])(
    'a token with a lifetime of %s is used for half of it, or until five minutes before its end',
    async (_, expiresIn, seconds) => {
      expect(await useOf(expiresIn)).toBe(seconds)
    },
  )
})
test('a signed-in user exchanges the refresh token for an access token', async () => {
  const { headers, upstream } = bench({ ...authorizedUser, quota_project_id: 'payer' })
  upstream.next(token('t1'))
  expect(await headers()).toEqual({ authorization: 'Bearer t1', 'x-goog-user-project': 'payer' })
  expect(upstream.requests[0]?.url).toBe(tokenUri)
  expect(formOf(upstream)).toEqual({
    grant_type: 'refresh_token',
    client_id: authorizedUser.client_id,
    client_secret: authorizedUser.client_secret,
    refresh_token: authorizedUser.refresh_token,
  })
})
describe('a token endpoint', () => {
  test.each([400, 401, 403, 404])(
    'a token endpoint that answers %i has refused the credential',
    async (status) => {
      const { headers, upstream } = bench(serviceAccount)
      const body = { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }
      upstream.next(json(body, { status }))
      expect(await failureOf(headers())).toEqual({
        kind: 'status',
        status: 401,
        message: `token endpoint, status ${status}, invalid_grant: Invalid JWT Signature.`,
        retryAfter: undefined,
        vendor: { status, code: 'invalid_grant' },
      })
      expect(upstream.requests).toHaveLength(1)
    },
  )

  test.each([408, 429, 500, 503])(
    'a token endpoint that answers %i keeps its status',
    async (status) => {
      const { headers, upstream } = bench(authorizedUser)
      upstream.next(whole('<html>', { status, headers: { 'retry-after': '7' } }))
      expect(await failureOf(headers())).toEqual({
        kind: 'status',
        status,
        message: `token endpoint, status ${status}`,
        retryAfter: 7000,
        vendor: { status },
      })
    },
  )

  test('an unreachable token endpoint is a network failure', async () => {
    const { headers, upstream } = bench(authorizedUser)
    upstream.next(broken({ kind: 'timeout', limit: 'connect' }))
    expect(await failureOf(headers())).toEqual({ kind: 'timeout', limit: 'connect' })
  })

  test('an exchange times out after ten seconds and releases its connection', async () => {
    const { headers, upstream, clock } = bench(authorizedUser)
    upstream.next(silent())
    const failure = failureOf(headers())
    await clock.advance(9_999)
    expect(upstream.requests[0]?.signal.aborted).toBe(false)
    await clock.advance(1)
    expect(await failure).toEqual({ kind: 'timeout', limit: 'read' })
    expect(upstream.requests[0]?.signal.aborted).toBe(true)
  })

  test('an exchange leaves no timer behind', async () => {
    const { headers, upstream, clock } = bench(authorizedUser)
    upstream.next(broken(), token('t1'))
    await failureOf(headers())
    await headers()
    expect(clock.pending).toBe(0)
  })

  test.each([
    ['text that is not JSON', '<html>'],
    ['no token', '{}'],
    ['an empty token', '{"access_token":""}'],
    ['a token that does not fit a header', '{"access_token":"a\\nb"}'],
  ])(
    'a token endpoint that answers with %s is malformed, and no request is sent upstream',
    async (_, body) => {
      const { headers, upstream } = bench(authorizedUser)
      upstream.next(whole(body))
      expect(await failureOf(headers())).toEqual({
        kind: 'malformed',
        detail: 'the answer of the token endpoint has no access token',
      })
    },
  )

  test('the next request after a failed exchange tries again', async () => {
    const { headers, upstream } = bench(serviceAccount)
    upstream.next(broken(), token('t1'))
    const failed = await Promise.allSettled([headers(), headers()])
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(upstream.requests).toHaveLength(1)
    expect(await headers()).toEqual({ authorization: 'Bearer t1' })
  })

  test('an error that quotes the assertion is masked', async () => {
    const { headers, upstream } = bench(serviceAccount)
    let shown = ''
    upstream.next((request) => {
      shown = new URLSearchParams(new TextDecoder().decode(request.body)).get('assertion') ?? ''
      const body = { error: 'invalid_grant', error_description: `bad assertion ${shown}` }
      return json(body, { status: 400 })(request)
    })
    const failure = await failureOf(headers())
    expect(shown.length).toBeGreaterThan(300)
    expect(failure).toMatchObject({
      message: 'token endpoint, status 400, invalid_grant: bad assertion ***',
    })
  })

  test('an error that quotes the refresh token or the client secret is masked', async () => {
    const { headers, upstream } = bench(authorizedUser)
    const { client_secret: secret, refresh_token: refresh } = authorizedUser
    const body = { error: 'invalid_grant', error_description: `${refresh} of ${secret}` }
    upstream.next(json(body, { status: 400 }))
    expect(await failureOf(headers())).toMatchObject({
      message: 'token endpoint, status 400, invalid_grant: *** of ***',
    })
  })
})
