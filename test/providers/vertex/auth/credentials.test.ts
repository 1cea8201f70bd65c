import { createPrivateKey } from 'node:crypto'
import { importSPKI, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { type UpstreamFailure, UpstreamFault } from '../../../../src/core/failure.ts'
import { broken, json, silent, whole } from '../../../support/scripted-upstream.ts'
import {
  authorizedUser,
  bench,
  canaries,
  formOf,
  publicKey,
  serviceAccount,
  token,
  tokenUri,
} from '../support.ts'

/** The failure that a promise rejects with, free of secrets. */
async function failureOf(promise: Promise<unknown>): Promise<UpstreamFailure> {
  const fault = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(fault instanceof UpstreamFault)) throw new Error('no UpstreamFault')
  const told = JSON.stringify([fault.failure, fault.message, fault.cause])
  expect(canaries.filter((canary) => told.includes(canary))).toEqual([])
  return fault.failure
}

describe('ready-made secrets go out as they are, without any call', () => {
  test.each([
    ['AIzaSyTest', { 'x-goog-api-key': 'AIzaSyTest' }],
    ['AQ.test', { 'x-goog-api-key': 'AQ.test' }],
    ['ya29.test', { authorization: 'Bearer ya29.test' }],
  ])('%s', async (secret, headers) => {
    const { headers: made, upstream } = bench(`${secret}\n`)
    expect(await made()).toEqual(headers)
    expect(upstream.requests).toEqual([])
  })

  test('and nothing fresher can be had after a 401', () => {
    expect(bench('ya29.test').authorize.renew).toBeUndefined()
  })
})

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

test('a secret that cannot be used fails the request, not the snapshot', async () => {
  const { headers, upstream } = bench('{')
  expect(await failureOf(headers())).toEqual({
    kind: 'no-credential',
    message: 'the Google credential cannot be used: the credentials are not valid JSON',
  })
  expect(upstream.requests).toEqual([])
})

describe('a token', () => {
  test('is asked for once, however many requests wait for the first', async () => {
    const { headers, upstream } = bench(serviceAccount)
    upstream.next(token('t1'))
    const all = await Promise.all(Array.from({ length: 20 }, headers))
    expect(new Set(all.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer t1']))
    expect(upstream.requests).toHaveLength(1)
  })

  test('serves until five minutes before its end, then another is got', async () => {
    const { headers, upstream, clock } = bench(serviceAccount)
    upstream.next(token('t1', 3599), token('t2', 3599))
    await headers()
    await clock.advance(3_298_999)
    expect(await headers()).toEqual({ authorization: 'Bearer t1' })
    await clock.advance(1)
    const all = await Promise.all(Array.from({ length: 20 }, headers))
    expect(new Set(all.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer t2']))
    expect(upstream.requests).toHaveLength(2)
  })

  test('of a short life serves for half of it', async () => {
    const { headers, upstream, clock } = bench(authorizedUser)
    upstream.next(token('t1', 300), token('t2', 300))
    await headers()
    await clock.advance(149_999)
    expect(await headers()).toEqual({ authorization: 'Bearer t1' })
    await clock.advance(1)
    expect(await headers()).toEqual({ authorization: 'Bearer t2' })
  })

  test('of no told life counts as one of an hour', async () => {
    const { headers, upstream, clock } = bench(authorizedUser)
    upstream.next(json({ access_token: 't1' }), token('t2'))
    await headers()
    await clock.advance(3_299_999)
    expect(await headers()).toEqual({ authorization: 'Bearer t1' })
    await clock.advance(1)
    expect(await headers()).toEqual({ authorization: 'Bearer t2' })
  })

  test('serves to its end while no other can be got, and no longer', async () => {
    const { headers, upstream, clock } = bench(authorizedUser)
    upstream.next(token('t1', 3600)).always(broken())
    await headers()
    await clock.advance(3_599_999)
    expect(await headers()).toEqual({ authorization: 'Bearer t1' })
    await clock.advance(1)
    expect(await failureOf(headers())).toMatchObject({ kind: 'network' })
    expect(upstream.requests).toHaveLength(3)
  })

  test('does not depend on the wall clock', async () => {
    const { headers, upstream, clock } = bench(authorizedUser)
    upstream.next(token('t1'))
    await headers()
    clock.now = () => 4_000_000_000_000
    expect(await headers()).toEqual({ authorization: 'Bearer t1' })
    expect(upstream.requests).toHaveLength(1)
  })

  test('that was refused is not shown again', async () => {
    const { authorize, headers, upstream } = bench(serviceAccount)
    upstream.next(token('t1'), token('t2'))
    const refused = await headers()
    expect(authorize.renew?.(refused)).toBe(true)
    expect(await headers()).toEqual({ authorization: 'Bearer t2' })
  })

  test('that was refused while another is being got does not stand in for it', async () => {
    const { authorize, headers, upstream, clock } = bench(authorizedUser)
    upstream.next(token('t1', 3600), broken())
    const refused = await headers()
    await clock.advance(3_300_000)
    const failure = failureOf(headers())
    authorize.renew?.(refused)
    expect(await failure).toMatchObject({ kind: 'network' })
  })

  test('refused to several requests is replaced once', async () => {
    const { authorize, headers, upstream } = bench(serviceAccount)
    upstream.next(token('t1'), token('t2'))
    const refused = await headers()
    authorize.renew?.(refused)
    await headers()
    expect(authorize.renew?.(refused)).toBe(true)
    expect(await headers()).toEqual({ authorization: 'Bearer t2' })
    expect(upstream.requests).toHaveLength(2)
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

/** A host with these files, which keeps what was read. */
function files(content: Record<string, string>) {
  const read: string[] = []
  const readFile = async (path: string) => {
    read.push(path)
    const text = content[path]
    if (text === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' })
    return text
  }
  return { content, read, readFile }
}

describe('a path', () => {
  test('is read once, for the first request', async () => {
    const { read, readFile } = files({ '/run/sa.json': `${JSON.stringify(serviceAccount)}\n` })
    const { authorize, headers, upstream } = bench('/run/sa.json', { readFile })
    upstream.next(token('t1'), token('t2'))
    expect(read).toEqual([])
    const [refused = {}] = await Promise.all([headers(), headers()])
    await headers()
    expect(upstream.requests).toHaveLength(1)
    expect(read.length).toBeLessThanOrEqual(2)
    expect(authorize.renew?.(refused)).toBe(true)
    expect(await headers()).toEqual({ authorization: 'Bearer t2' })
  })

  test('may begin with the home directory', async () => {
    const { read, readFile } = files({})
    await failureOf(bench('~/sa.json', { readFile, env: { HOME: '/home/$&' } }).headers())
    await failureOf(bench('~/sa.json', { readFile }).headers())
    expect(read).toEqual(['/home/$&/sa.json', '~/sa.json'])
  })

  test('that cannot be read is no credential, until it can', async () => {
    const { content, readFile } = files({})
    const { headers, upstream } = bench('/run/sa.json', { readFile })
    upstream.next(token('t1'))
    expect(await failureOf(headers())).toEqual({
      kind: 'no-credential',
      message: 'the Google credential cannot be used: the file it names cannot be read',
      reason: 'ENOENT',
    })
    content['/run/sa.json'] = JSON.stringify(serviceAccount)
    expect(await headers()).toEqual({ authorization: 'Bearer t1' })
  })

  test.each(['AIzaSyTest', '', '{"type":"service_account"}'])(
    'of a file that holds no credentials JSON is no credential: %s',
    async (content) => {
      const { readFile } = files({ '/run/sa': content })
      const failure = await failureOf(bench('/run/sa', { readFile }).headers())
      expect(failure).toMatchObject({ kind: 'no-credential' })
    },
  )

  test('means nothing to a host without files', async () => {
    expect(await failureOf(bench('/run/sa').headers())).toEqual({
      kind: 'no-credential',
      message:
        'the Google credential cannot be used: it names a file, but this host cannot read files',
    })
  })
})
