import { describe, expect, test } from 'vitest'
import { keyedGateway } from '../support/keyed-gateway.ts'
import { reloadingGateway } from '../support/reloading-gateway.ts'

const config = `
[webhooks]
url = "https://hooks.example/services/T0/B0/secret"
[[providers]]
name = "p"
kind = "openai"
base_url = "https://p.example/v1"
proxy = "http://me:secret@proxy.example:3128"
models = [{ id = "m" }]
`

interface Setting {
  readonly setting: string
  readonly value: unknown
  readonly origin: string
  readonly variable: string | null
}

function findSetting(body: Record<string, unknown>, name: string): Setting | undefined {
  return (body['settings'] as Setting[]).find(({ setting }) => setting === name)
}

describe('GET /admin/settings', () => {
  test('shows what the file sets, and with effective=true the defaults, too', async () => {
    const gateway = await keyedGateway(config)
    const { body } = await gateway.admin('GET', '/admin/settings')
    const base = { value: 'https://p.example/v1', origin: 'file', variable: null }
    expect(findSetting(body, 'providers[0].base_url')).toMatchObject(base)
    expect(findSetting(body, 'server.host')).toBeUndefined()
    const { body: all } = await gateway.admin('GET', '/admin/settings?effective=true')
    expect(findSetting(all, 'server.host')).toMatchObject({ origin: 'default' })
    const { status } = await gateway.admin('GET', '/admin/settings?effective=yes')
    expect(status).toBe(400)
  })

  test('masks credentials, also the path of the webhook, which authenticates its senders', async () => {
    const gateway = await keyedGateway(config)
    const { body } = await gateway.admin('GET', '/admin/settings?effective=true')
    expect(JSON.stringify(body)).not.toContain('secret')
    expect(findSetting(body, 'webhooks.url')?.value).toBe('https://hooks.example/***')
    expect(findSetting(body, 'providers[0].proxy')?.value).toBe('http://***@proxy.example:3128')
  })

  test('follows a reload; a setting that needs a restart keeps the value in force', async () => {
    const { change, admin } = await reloadingGateway()
    const { body: before } = await admin('GET', '/admin/settings?effective=true')
    expect(findSetting(before, 'server.body_limit')?.origin).toBe('default')
    const port = findSetting(before, 'server.port')?.value
    await change(`[server]\nbody_limit = 5000\nport = 1234\n${config}`)
    const { body } = await admin('GET', '/admin/settings?effective=true')
    expect(findSetting(body, 'server.body_limit')).toMatchObject({ value: 5000, origin: 'file' })
    expect(findSetting(body, 'server.port')?.value).toBe(port)
    expect(findSetting(body, 'providers[0].base_url')?.value).toBe('https://p.example/v1')
  })
})
