import { describe, expect, test } from 'vitest'
import { listProblems } from './support.ts'

const webhooks = '[webhooks]\nurl = "https://hooks.example.com"\n'

describe('webhooks need auth', () => {
  const problem = 'webhooks (line 1): webhooks need auth: set auth.enabled to true'

  test.each(['', '[auth]', '[auth]\nenabled = false'])(
    'webhooks with %j are refused',
    async (auth) => {
      expect(await listProblems(`${webhooks}${auth}`)).toEqual([problem])
    },
  )

  test('webhooks are accepted when auth is on', async () => {
    expect(await listProblems(`${webhooks}[auth]\nenabled = true`)).toEqual([])
  })

  test('webhooks are accepted when a variable turns auth on', async () => {
    expect(await listProblems(webhooks, { GATEWAY_AUTH__ENABLED: 'true' })).toEqual([])
    expect(
      await listProblems(`${webhooks}[auth]\nenabled = true`, { GATEWAY_AUTH__ENABLED: 'false' }),
    ).toEqual([problem])
  })

  test('malformed auth causes no second problem about webhooks', async () => {
    expect(await listProblems(`${webhooks}[auth]\nenabled = "on"`)).toEqual([
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
  expect(await listProblems(`auth.enabled = true\nwebhooks.url = "${url}"`)).toEqual([
    `webhooks.url (line 2): ${rule}`,
  ])
})
