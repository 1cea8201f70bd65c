import { describe, expect, test } from 'vitest'
import { problemsOf } from './support.ts'

const webhooks = '[webhooks]\nurl = "https://hooks.example.com"\n'

describe('webhooks need auth', () => {
  const problem = 'webhooks (line 1): webhooks need auth: set auth.enabled to true'

  test.each(['', '[auth]', '[auth]\nenabled = false'])('with %j they are refused', async (auth) => {
    expect(await problemsOf(`${webhooks}${auth}`)).toEqual([problem])
  })

  test('with auth on they are accepted', async () => {
    expect(await problemsOf(`${webhooks}[auth]\nenabled = true`)).toEqual([])
  })

  test('auth that is switched on by a variable counts', async () => {
    expect(await problemsOf(webhooks, { GATEWAY_AUTH__ENABLED: 'true' })).toEqual([])
    expect(
      await problemsOf(`${webhooks}[auth]\nenabled = true`, { GATEWAY_AUTH__ENABLED: 'false' }),
    ).toEqual([problem])
  })

  test('malformed auth is reported alone', async () => {
    expect(await problemsOf(`${webhooks}[auth]\nenabled = "on"`)).toEqual([
      'auth.enabled (line 4): must be true or false',
    ])
  })
})

test.each([
  ['', 'must be an http or https URL'],
  ['hooks.example.com', 'must be an http or https URL'],
  ['mailto:ops@example.com', 'must be an http or https URL'],
  ['https://user:canary@example.com', 'must not contain a user name or password'],
])('url %j is refused', async (url, rule) => {
  expect(await problemsOf(`auth.enabled = true\nwebhooks.url = "${url}"`)).toEqual([
    `webhooks.url (line 2): ${rule}`,
  ])
})
