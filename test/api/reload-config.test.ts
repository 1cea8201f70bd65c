import { blake3 } from '@noble/hashes/blake3.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { describe, expect, test } from 'vitest'
import { expectErrorShape } from '../support/contract.ts'
import { masterKey, pricedProvider, prompt, used } from '../support/keyed-gateway.ts'
import { type ReloadingGateway, reloadingGateway, withAuth } from '../support/reloading-gateway.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const master = { authorization: `Bearer ${masterKey}` }
const successor = withAuth(pricedProvider.replace('id = "m"', 'id = "new"'))

/** Returns the hash of the current file. */
function hashFile({ file }: ReloadingGateway): string {
  return bytesToHex(blake3(file.bytes))
}

function put(
  { get }: Pick<ReloadingGateway, 'get'>,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return get('/admin/config', { method: 'PUT', body, headers: { ...master, ...headers } })
}

describe('GET /admin/config', () => {
  test('GET shows the exact bytes of the file, without overrides, and their hash', async () => {
    const gateway = await reloadingGateway(`# käse ☕\r\n\t${pricedProvider}`, {
      env: { GATEWAY_MASTER_KEY: masterKey, GATEWAY_SERVER__BODY_LIMIT: '5000' },
    })
    const answer = await gateway.get('/admin/config', { headers: master })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({ config: gateway.file.text, hash: hashFile(gateway) })
    expect(answer.headers.get('etag')).toBe(`"${hashFile(gateway)}"`)
    expect(hashFile(gateway)).toMatch(/^[0-9a-f]{64}$/)
  })

  test('GET shows the current file, even when it is invalid', async () => {
    const gateway = await reloadingGateway()
    gateway.file.write('providers = [')
    const { body } = await gateway.admin('GET', '/admin/config')
    expect(body).toEqual({ config: 'providers = [', hash: hashFile(gateway) })
  })

  test('GET of an unreadable file is LM-5001 without a path', async () => {
    const gateway = await reloadingGateway()
    gateway.file.isReadable = false
    const error = await expectErrorShape(await gateway.get('/admin/config', { headers: master }))
    expect(error).toMatchObject({ code: 'LM-5001', message: 'internal error' })
    expect(JSON.stringify(gateway.log)).not.toContain('/etc/')
    gateway.file.isReadable = true
  })
})

describe('PUT /admin/config', () => {
  test('the new configuration serves before the 204, and the previous file is kept', async () => {
    const gateway = await reloadingGateway()
    const { file, upstream, ask, key, count } = gateway
    const [client, before] = [await key(), file.bytes]
    const answer = await put(gateway, successor, { 'if-match': hashFile(gateway) })
    expect([answer.status, await answer.text()]).toEqual([204, ''])
    upstream.next(used(9))
    expect((await ask(client, prompt(8, { model: 'new' }))).status).toBe(200)
    expect([file.text, file.backup]).toEqual([successor, before])
    expect(answer.headers.get('etag')).toBe(`"${hashFile(gateway)}"`)
    expect(await count('gateway_config_reloads_total')).toBe(1)
  })

  test('the file watch finds nothing new after a PUT', async () => {
    const gateway = await reloadingGateway()
    await put(gateway, successor, { 'if-match': hashFile(gateway) })
    await gateway.gateway.refresh()
    expect(await gateway.count('gateway_config_reloads_total')).toBe(1)
  })

  test('the hash may be in quotes, and any content type is accepted', async () => {
    const gateway = await reloadingGateway()
    const headers = { 'if-match': `"${hashFile(gateway)}"`, 'content-type': 'application/json' }
    expect((await put(gateway, successor, headers)).status).toBe(204)
  })

  test('a PUT replaces an invalid file', async () => {
    const gateway = await reloadingGateway()
    gateway.file.write('providers = [')
    const answer = await put(gateway, successor, { 'if-match': hashFile(gateway) })
    expect([answer.status, gateway.file.text]).toEqual([204, successor])
  })

  test('a PUT accepts restart-only settings, and the log names them', async () => {
    const gateway = await reloadingGateway()
    const body = `[server]\nport = 9999\n${successor}\nusage_flush_ms = 7`
    gateway.takeLogLines()
    expect((await put(gateway, body, { 'if-match': hashFile(gateway) })).status).toBe(204)
    expect(gateway.takeLogLines()).toContain(
      'warn ignored until a restart server.port auth.usage_flush_ms',
    )
  })

  test.each([
    ['no If-Match', {}, 'LM-1001', /If-Match is missing/],
    ['an empty If-Match', { 'if-match': '' }, 'LM-1001', /If-Match is missing/],
    ['any hash', { 'if-match': '*' }, 'LM-1001', /must be the hash of the file: \*/],
    ['a weak tag', { 'if-match': 'W/"0"' }, 'LM-1001', /a weak tag is not accepted/],
    ['another hash', { 'if-match': '0'.repeat(64) }, 'LM-1004', /GET it again/],
  ])('a PUT with %s is refused and changes nothing', async (_, headers, code, message) => {
    const gateway = await reloadingGateway()
    const before = gateway.file.bytes
    const answer = await put(gateway, successor, headers as Record<string, string>)
    expect(answer.status).toBe(code === 'LM-1004' ? 412 : 400)
    expect(await expectErrorShape(answer)).toMatchObject({
      code,
      message: expect.stringMatching(message),
    })
    expect([gateway.file.bytes, gateway.file.backup]).toEqual([before, undefined])
  })

  const missing = pricedProvider.replace('upstream_id', 'fallbacks = ["x"]\nupstream_id')
  test.each([
    ['', /empty/, null],
    [Uint8Array.of(0xff), /UTF-8/, null],
    ['providers = [', /not TOML/, null],
    [`${successor}\n[server]\nport = 0`, /server\.port \(line \d+\)/, 'server.port'],
    [missing, /fallbacks\[0\] \(line \d+\)/, 'providers[0].models[0].fallbacks[0]'],
    [
      `${successor}\n[webhooks]\nurl = "https://h.test"\nsigning_key_env = "NONE"`,
      /signing_key_env: .*NONE/,
      'webhooks.signing_key_env',
    ],
  ])(
    'a PUT of an invalid configuration is LM-1001 with the setting: %j',
    async (body, message, param) => {
      const gateway = await reloadingGateway()
      const before = gateway.file.bytes
      const answer = await put(gateway, body, { 'if-match': hashFile(gateway) })
      const error = await expectErrorShape(answer)
      expect(error).toMatchObject({ code: 'LM-1001', message: expect.stringMatching(message) })
      if (param !== null) expect(error.param).toBe(param)
      expect(error.message).not.toMatch(/staged|config\.toml/)
      expect([gateway.file.bytes, gateway.file.backup]).toEqual([before, undefined])
      expect(await gateway.count('gateway_config_reload_failures_total')).toBe(0)
    },
  )

  test('a PUT over the body limit is LM-1002', async () => {
    const gateway = await reloadingGateway(`[server]\nbody_limit = 500\n${pricedProvider}`)
    const body = `${successor}\n${'#'.repeat(500)}`
    const answer = await put(gateway, body, { 'if-match': hashFile(gateway) })
    expect(answer.status).toBe(413)
    expect(await expectErrorShape(answer)).toMatchObject({ code: 'LM-1002' })
  })

  test('a PUT into a read-only folder is LM-5001 without the staged path', async () => {
    const gateway = await reloadingGateway()
    const before = gateway.file.bytes
    gateway.file.isWritable = false
    const answer = await put(gateway, successor, { 'if-match': hashFile(gateway) })
    expect(answer.status).toBe(500)
    const error = await expectErrorShape(answer)
    expect(error).toMatchObject({ code: 'LM-5001', message: 'internal error' })
    expect(JSON.stringify(gateway.log)).not.toContain('staged')
    expect(gateway.log.filter(({ message }) => message === 'internal error')).toMatchObject([
      { fields: { request_id: error.request_id } },
    ])
    expect(gateway.file.bytes).toBe(before)
  })

  test('a PUT while the database is unavailable leaves the file unchanged', async () => {
    const gateway = await reloadingGateway()
    const before = gateway.file.bytes
    gateway.store.trouble = 'refuse'
    const answer = await put(gateway, successor, { 'if-match': hashFile(gateway) })
    gateway.store.trouble = 'none'
    expect([answer.status, gateway.file.bytes]).toEqual([503, before])
  })

  test('a PUT is refused when an editor changed the file first, and the editor’s text stays', async () => {
    const gateway = await reloadingGateway()
    const release = gateway.store.hold()
    const pending = put(gateway, successor, { 'if-match': hashFile(gateway) })
    // Validation is in progress: it reads the stored keys.
    await expect.poll(() => gateway.store.calls.at(-1)).toBe('readSealed')
    gateway.file.write('# mine')
    release()
    expect([(await pending).status, gateway.file.text]).toEqual([412, '# mine'])
  })

  test.each([undefined, 'Bearer wrong', 'Basic eDp5'])(
    'a PUT needs the master key (%s)',
    async (shown) => {
      const gateway = await reloadingGateway()
      const headers = { authorization: shown ?? '', 'if-match': hashFile(gateway) }
      const answer = await put(gateway, successor, headers)
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
      expect(await expectErrorShape(answer)).toMatchObject({ code: 'LM-4004' })
    },
  )

  test('of a hundred concurrent PUTs exactly one wins each round, and its configuration serves', async () => {
    const gateway = await reloadingGateway()
    const client = await gateway.key()
    for (let round = 0; round < 5; round++) {
      const hash = hashFile(gateway)
      const id = (racer: number) => `m-${round}-${racer}`
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, racer) =>
          put(gateway, successor.replace('"new"', `"${id(racer)}"`), { 'if-match': hash }),
        ),
      )
      const statuses = answers.map(({ status }) => status)
      expect(statuses.toSorted()).toEqual([204, ...Array(99).fill(412)])
      const winner = id(statuses.indexOf(204))
      expect(gateway.file.text).toContain(`"${winner}"`)
      const { data } = await (await gateway.get('/v1/models', { headers: client.headers })).json()
      expect(data).toMatchObject([{ id: winner }])
    }
  })

  test('after concurrent PUTs, reloads and refreshes the file is what serves', async () => {
    const gateway = await reloadingGateway()
    const client = await gateway.key()
    for (let round = 0; round < 20; round++) {
      const id = `m-${round}`
      const text = successor.replace('"new"', `"${id}"`)
      const puts = put(gateway, text, { 'if-match': hashFile(gateway) })
      await Promise.all([gateway.gateway.reload(), puts, gateway.gateway.refresh()])
      const { data } = await (await gateway.get('/v1/models', { headers: client.headers })).json()
      expect([data[0].id, gateway.file.text]).toEqual([id, text])
    }
  })
})

test('without auth the route does not exist', async () => {
  const { get } = await watchedGateway()
  for (const method of ['GET', 'PUT']) {
    const answer = await get('/admin/config', { method, headers: master })
    expect(await expectErrorShape(answer)).toMatchObject({ code: 'LM-1003' })
  }
})

test('a gateway created from text shows its configuration and cannot replace it', async () => {
  const gateway = await reloadingGateway(pricedProvider, { configFile: undefined })
  const { config, hash } = (await gateway.admin('GET', '/admin/config')).body
  expect(config).toBe(withAuth(pricedProvider))
  const answer = await put(gateway, successor, { 'if-match': String(hash) })
  expect(await expectErrorShape(answer)).toMatchObject({
    code: 'LM-1001',
    message: expect.stringContaining('no file to replace'),
  })
})
