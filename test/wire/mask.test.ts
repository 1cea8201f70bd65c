import { describe, expect, test } from 'vitest'
import { maskSecrets } from '../../src/wire/mask.ts'

const key = 'tok_4f9aQ+7/zL0pXw2m=Rb8Ts3vYd'

describe('masking', () => {
  test.each([
    ['as it is', key],
    ['percent-encoded', encodeURIComponent(key)],
    ['in JSON', JSON.stringify(`${key}"\\`).slice(1, -1)],
    ['in base64', btoa(key)],
    ['in base64url', btoa(key).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')],
    ['in basic authentication', btoa(`user:${key}`)],
    ['in base64 after one more letter', btoa(`users:${key}`)],
    ['in base64 after two more letters', btoa(`user12:${key}`)],
    ['its first half', key.slice(0, 16)],
    ['its second half', key.slice(-16)],
    ['its middle', key.slice(5, 25)],
    ['both halves, a blank between them', `${key.slice(0, 16)} ${key.slice(-16)}`],
    ['twice in a row', key + key],
  ])('the secret %s is hidden', (_, spelling) => {
    const shown = maskSecrets(`refused: <${spelling}>, sorry`, key)
    expect(shown).toMatch(/^refused: <.*>, sorry$/)
    const rest = shown.slice('refused: <'.length, -'>, sorry'.length)
    expect(rest).toContain('***')
    // What may be left of base64 is its neighbours: letters that say nothing of the secret.
    for (let at = 0; at + 8 <= key.length; at++) expect(rest).not.toContain(key.slice(at, at + 8))
    expect(rest.replaceAll('***', '').length).toBeLessThan(18)
  })

  test('the secrets in a JSON document are hidden, its URLs and names are not', () => {
    const secret = JSON.stringify({
      type: 'service_account',
      client_email: 'gateway@my-project.iam.gserviceaccount.com',
      private_key: `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0B'.repeat(3)}\n-----END`,
      token_uri: 'https://oauth2.googleapis.com/token',
    })
    const text =
      'gateway@my-project.iam.gserviceaccount.com at https://oauth2.googleapis.com/token: MIIEvQIBADANBgkqhkiG9w0B'
    expect(maskSecrets(text, secret)).toBe(
      'gateway@my-project.iam.gserviceaccount.com at https://oauth2.googleapis.com/token: ***',
    )
    expect(maskSecrets(`<${secret}>`, secret)).toBe('<***>')
  })

  test('text that looks like a credential of another provider is hidden', () => {
    expect(maskSecrets('Bearer abcdefghijkl and sk-proj-12345678', key)).toBe('*** and ***')
  })
})

test('text that shares fewer than 16 characters with the secret stays', () => {
  const text = `the key starts with ${key.slice(0, 15)} and ends with ${key.slice(-15)}`
  expect(maskSecrets(text, key)).toBe(text)
})

test('a short secret is hidden as a whole, in base64 too', () => {
  expect(maskSecrets('it is hunter2, or aHVudGVyMg==', 'hunter2')).toBe('it is ***, or ***')
  expect(maskSecrets('an abc of keys', 'abc')).toBe('an abc of keys')
})

test('masking takes linear time', () => {
  const secrets = ['a'.repeat(4000), 'ab'.repeat(2000), key.repeat(100)]
  const texts = ['a'.repeat(64 * 1024), 'ab'.repeat(32 * 1024), key.slice(0, 15).repeat(4000)]
  for (const secret of secrets) {
    for (const text of texts) {
      const before = performance.now()
      maskSecrets(text, secret)
      expect(performance.now() - before).toBeLessThan(1000)
    }
  }
})
