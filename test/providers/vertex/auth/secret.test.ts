import { describe, expect, test } from 'vitest'
import { parseGoogleSecret } from '../../../../src/providers/vertex/auth/secret.ts'
import { authorizedUser, canaries, serviceAccount } from '../support.ts'

const account = {
  kind: 'service-account',
  email: serviceAccount.client_email,
  privateKey: serviceAccount.private_key,
  keyId: 'kid-1',
  tokenUri: 'https://oauth2.googleapis.com/token',
  project: 'sa-proj',
  quotaProject: undefined,
}

describe('the kind of a secret follows from its text', () => {
  const asJson = JSON.stringify(serviceAccount)

  test.each([
    ['compact', asJson],
    ['indented, as the console writes it', JSON.stringify(serviceAccount, undefined, 2)],
    ['with white space around it', `\n ${asJson}\r\n`],
    ['with line breaks as two characters', asJson.replaceAll(String.raw`\n`, String.raw`\\n`)],
    ['in base64', btoa(asJson)],
    ['indented in base64', btoa(JSON.stringify(serviceAccount, undefined, 2))],
  ])('a secret is the JSON of a service account: %s', (_, secret) => {
    expect(parseGoogleSecret(secret)).toEqual(account)
  })

  test('a secret may be the JSON of a signed-in user', () => {
    expect(parseGoogleSecret(JSON.stringify({ ...authorizedUser, quota_project_id: 'q' }))).toEqual(
      {
        kind: 'authorized-user',
        clientId: authorizedUser.client_id,
        clientSecret: authorizedUser.client_secret,
        refreshToken: authorizedUser.refresh_token,
        tokenUri: 'https://oauth2.googleapis.com/token',
        quotaProject: 'q',
      },
    )
  })

  test.each([
    '/run/secrets/sa',
    './sa',
    '../sa',
    '~/sa',
    'keys/sa.json',
    String.raw`C:\keys\sa.json`,
  ])('a secret is a file path: %s', (path) =>
    expect(parseGoogleSecret(`${path}\n`)).toEqual({ kind: 'file', path }),
  )

  test.each(['AIzaSyTest', 'AQ.test'])('a secret is an API key: %s', (key) => {
    expect(parseGoogleSecret(`${key}\n`)).toEqual({ kind: 'api-key', key })
  })

  test.each(['ya29.test', 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln'])(
    'a secret is an access token: %s',
    (token) => {
      expect(parseGoogleSecret(` ${token}`)).toEqual({ kind: 'token', token })
    },
  )
})

/** The service account with these fields changed. */
function having(fields: object): string {
  return JSON.stringify({ ...serviceAccount, ...fields })
}

describe('unusable secrets', () => {
  const otherType = 'the credentials JSON is not of type service_account or authorized_user'

  test.each([
    ['blank', '  ', 'it is not JSON, a file path, an API key or an access token'],
    [
      'several lines',
      'ya29.a\nya29.b',
      'it is not JSON, a file path, an API key or an access token',
    ],
    ['cut JSON', JSON.stringify(serviceAccount).slice(0, -1), 'the credentials are not valid JSON'],
    ['no type', having({ type: undefined }), otherType],
    ['an unsupported type', having({ type: 'external_account' }), otherType],
    [
      'no client_email',
      having({ client_email: undefined }),
      'the credentials JSON has a missing or invalid client_email',
    ],
    [
      'no private_key',
      having({ private_key: undefined }),
      'the credentials JSON has a missing or invalid private_key',
    ],
    [
      'an empty key',
      having({ private_key: '' }),
      'the credentials JSON has a missing or invalid private_key',
    ],
    [
      'an invalid token_uri',
      having({ token_uri: 'x' }),
      'the credentials JSON has a missing or invalid token_uri',
    ],
    [
      'a project that would change the path',
      having({ project_id: 'a/../b' }),
      'the credentials JSON has a missing or invalid project_id',
    ],
    [
      'another universe',
      having({ universe_domain: 'example.com' }),
      'the credentials JSON has a missing or invalid universe_domain',
    ],
  ])('the problem of an unusable secret quotes no part of it: %s', (_, secret, problem) => {
    expect(parseGoogleSecret(secret)).toEqual({ kind: 'unusable', problem })
    expect(canaries.some((canary) => problem.includes(canary))).toBe(false)
  })
})

test('empty optional fields count as absent', () => {
  const secret = JSON.stringify({ ...serviceAccount, project_id: '', private_key_id: '' })
  expect(parseGoogleSecret(secret)).toMatchObject({ project: undefined, keyId: undefined })
})
