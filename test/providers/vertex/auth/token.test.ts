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
  test('shows a signed assertion and gets a token', async () => {
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

  test('asks where its JSON says', async () => {
    const { headers, upstream } = bench({ ...serviceAccount, token_uri: 'http://127.0.0.1:1/t' })
    upstream.next(token('t1'))
    await headers()
    expect(upstream.requests[0]?.url).toBe('http://127.0.0.1:1/t')
  })

  test('without a key id names none', async () => {
    const { headers, upstream } = bench({ ...serviceAccount, private_key_id: undefined })
    upstream.next(token('t1'))
    await headers()
    const [head = ''] = formOf(upstream).assertion?.split('.') ?? []
    expect(JSON.parse(atob(head))).toEqual({ alg: 'RS256', typ: 'JWT' })
  })

  test('names the project that pays', async () => {
    const { headers, upstream } = bench({ ...serviceAccount, quota_project_id: 'payer' })
    upstream.next(token('t1'))
    expect(await headers()).toEqual({
      authorization: 'Bearer t1',
      'x-goog-user-project': 'payer',
    })
  })

  test.each([
    ['no PEM at all', 'canary'],
    [
      'cut short in the older form',
      '-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----',
    ],
    [
      'no base64 in the older form',
      '-----BEGIN RSA PRIVATE KEY-----\n=A==\n-----END RSA PRIVATE KEY-----',
    ],
    ['cut short', serviceAccount.private_key.replace(/\n.{30}/, '\n')],
  ])('whose key is %s has no credential, and makes no call', async (_, key) => {
    const { headers, upstream } = bench({ ...serviceAccount, private_key: key })
    expect(await failureOf(headers())).toEqual({
      kind: 'no-credential',
      message:
        'the Google credential cannot be used: its private_key is not a PKCS#8 or PKCS#1 RSA key of at least 2048 bits',
    })
    expect(upstream.requests).toEqual([])
  })
})
test('a service account may have its key in the older form, PKCS#1', async () => {
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
describe('the life of a token', () => {
  /** How long it is used, in seconds: half of a short life. */
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
    ['no number', 'soon', 30],
  ])('%s: it is used for a while', async (_, expiresIn, seconds) => {
    expect(await useOf(expiresIn)).toBe(seconds)
  })
})
test('a signed-in user shows the refresh token and gets an access token', async () => {
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
    'that refuses with %i counts as a refused credential',
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

  test.each([408, 429, 500, 503])('in trouble, %i, keeps its status', async (status) => {
    const { headers, upstream } = bench(authorizedUser)
    upstream.next(whole('<html>', { status, headers: { 'retry-after': '7' } }))
    expect(await failureOf(headers())).toEqual({
      kind: 'status',
      status,
      message: `token endpoint, status ${status}`,
      retryAfter: 7000,
      vendor: { status },
    })
  })

  test('that is not reached fails as the network does', async () => {
    const { headers, upstream } = bench(authorizedUser)
    upstream.next(broken({ kind: 'timeout', limit: 'connect' }))
    expect(await failureOf(headers())).toEqual({ kind: 'timeout', limit: 'connect' })
  })

  test('that is silent is given up after ten seconds, and its connection freed', async () => {
    const { headers, upstream, clock } = bench(authorizedUser)
    upstream.next(silent())
    const failure = failureOf(headers())
    await clock.advance(9_999)
    expect(upstream.requests[0]?.signal.aborted).toBe(false)
    await clock.advance(1)
    expect(await failure).toEqual({ kind: 'timeout', limit: 'read' })
    expect(upstream.requests[0]?.signal.aborted).toBe(true)
  })

  test('leaves no timer behind', async () => {
    const { headers, upstream, clock } = bench(authorizedUser)
    upstream.next(broken(), token('t1'))
    await failureOf(headers())
    await headers()
    expect(clock.pending).toBe(0)
  })

  test.each([
    ['no JSON', '<html>'],
    ['no token', '{}'],
    ['an empty token', '{"access_token":""}'],
    ['a token that is no header', '{"access_token":"a\\nb"}'],
  ])('that answers %s is malformed, and nothing is sent on', async (_, body) => {
    const { headers, upstream } = bench(authorizedUser)
    upstream.next(whole(body))
    expect(await failureOf(headers())).toEqual({
      kind: 'malformed',
      detail: 'the answer of the token endpoint has no access token',
    })
  })

  test('that has failed is asked again by the next request', async () => {
    const { headers, upstream } = bench(serviceAccount)
    upstream.next(broken(), token('t1'))
    const failed = await Promise.allSettled([headers(), headers()])
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(upstream.requests).toHaveLength(1)
    expect(await headers()).toEqual({ authorization: 'Bearer t1' })
  })

  test('that repeats what it was shown gives none of it away', async () => {
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

  test('that repeats a refresh token gives nothing of it away', async () => {
    const { headers, upstream } = bench(authorizedUser)
    const { client_secret: secret, refresh_token: refresh } = authorizedUser
    const body = { error: 'invalid_grant', error_description: `${refresh} of ${secret}` }
    upstream.next(json(body, { status: 400 }))
    expect(await failureOf(headers())).toMatchObject({
      message: 'token endpoint, status 400, invalid_grant: *** of ***',
    })
  })
})
