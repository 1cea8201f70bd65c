import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connectAdmin } from '../../adapters/node/admin/http.ts'
import { openNodeStore } from '../../adapters/node/ports/store.ts'
import { commandLine, runCommand, setVariables } from './support/cli.ts'
import { masterKey } from './support/keyed-host.ts'
import { httpServer, tcpServer } from './support/servers.ts'

/*
 * How commands reach the admin API: that of the running gateway, else of one in their own process.
 */

const chat = '{"model":"demo","messages":[{"role":"user","content":"Hi"}]}'

test('a running gateway accepts a key of the command line at once', async () => {
  const line = await commandLine()
  const { address } = await line.serve()
  const { key } = await line.json('keys', 'create', '--name', 'k')
  const headers = { authorization: `Bearer ${key}` }
  const answer = await fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers,
    body: chat,
  })
  expect(answer.status).toBe(200)
})

test('without a running gateway the command works on the database, without a provider', async () => {
  const vendor = await httpServer((_, response) => response.end('{}'))
  const line = await commandLine(`
    [resilience]
    health_check_enabled = true
    [[providers]]
    name = "p"
    kind = "openai"
    base_url = "${vendor.url}/v1"
    models = [{ id = "m" }]
  `)
  const { id } = await line.json('keys', 'create', '--name', 'early')
  expect(await line.json('keys', 'list')).toMatchObject({ keys: [{ id, name: 'early' }] })
  expect(vendor.sockets).toEqual([])
})

test('--url names a gateway, and needs no configuration file', async () => {
  const line = await commandLine()
  const { address } = await line.serve()
  rmSync(line.config)
  const { code, stdout } = await runCommand('keys', 'list', '--json', '--url', `${address}/`)
  expect({ code, body: JSON.parse(stdout) }).toEqual({ code: 0, body: { keys: [] } })
})

test('--url without a gateway ends with 1, and does not open the database', async () => {
  const line = await commandLine()
  const { code, stderr } = await line.run('keys', 'list', '--url', 'http://127.0.0.1:1')
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'no gateway listens at http://127.0.0.1:1\n',
  })
})

test.each(['127.0.0.1:8080', 'ftp://host', 'gateway'])('--url %s is bad usage', async (url) => {
  const line = await commandLine()
  const { code, stderr } = await line.run('keys', 'list', '--url', url)
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(/^--url: must/) })
})

test('a gateway that only the environment configures is reached without a file', async () => {
  const line = await commandLine()
  await line.serve()
  setVariables({ GATEWAY_SERVER__PORT: new URL(line.address).port })
  expect(await runCommand('keys', 'list')).toMatchObject({ code: 0 })
})

test('a missing file that --config names is bad usage, whatever runs', async () => {
  await (await commandLine()).serve()
  const { code, stderr } = await runCommand('keys', 'list', '--config', 'absent.toml')
  expect({ code, stderr }).toEqual({ code: 2, stderr: 'absent.toml: no such file\n' })
})

test('another master key than that of the running gateway ends with 1', async () => {
  const line = await commandLine()
  await line.serve()
  setVariables({ GATEWAY_MASTER_KEY: '7e'.repeat(32) })
  const { code, stderr } = await line.run('keys', 'list')
  expect(code).toBe(1)
  expect(stderr).toBe(
    `GATEWAY_MASTER_KEY: is not the master key of the gateway at ${line.address}\n`,
  )
})

test('a malformed master key is bad usage', async () => {
  const line = await commandLine()
  setVariables({ GATEWAY_MASTER_KEY: '123' })
  const { code, stderr } = await line.run('keys', 'list')
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^GATEWAY_MASTER_KEY: .*64 hex digits/),
  })
})

test('the master key is not sent to something other than a gateway', async () => {
  const line = await commandLine()
  const seen: string[] = []
  const other = await httpServer((request, response) => {
    seen.push(JSON.stringify(request.headers))
    response.end('<html>')
  })
  const { code, stderr } = await line.run('keys', 'list', '--url', other.url)
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `${other.url}: something other than a gateway answers there\n`,
  })
  expect(seen).toHaveLength(1)
  expect(seen.join('')).not.toContain(masterKey)
})

test('an address that does not speak HTTP ends with 1', async () => {
  const line = await commandLine()
  const other = await tcpServer((socket) => socket.end('220 mail ready\r\n'))
  const url = `http://127.0.0.1:${other.port}`
  const { code, stderr } = await line.run('keys', 'list', '--url', url)
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `${url}: something other than a gateway answers there\n`,
  })
})

test('an address that never answers ends with 1', async () => {
  const other = await tcpServer(() => {})
  const address = `http://127.0.0.1:${other.port}`
  await expect(connectAdmin({ address, masterKey, timeout: 50 })).rejects.toMatchObject({
    exitCode: 1,
    message: `${address}: the answer took too long`,
  })
})

test('an answer may take longer than the connection, where a command waits for a vendor', async () => {
  const other = await httpServer(({ url }, response) => {
    if (url === '/') response.end('{"name":"Model Gateway"}')
    else setTimeout(() => response.end('{"slow":true}'), 400)
  })
  const timeouts = { timeout: 200, answerTimeout: 0 }
  const admin = await connectAdmin({ address: other.url, masterKey, ...timeouts })
  onTestFinished(() => admin?.close())
  expect(await admin?.send('POST', '/admin/providers/p/check')).toEqual({ slow: true })
})

test('beside a gateway at another address, keys are shown and created, and all else says how to reach it', async () => {
  const line = await commandLine()
  const path = join(line.folder, 'gateway.db')
  const store = await openNodeStore({ path, token: undefined, claim: { onConflict: 'reject' } })
  onTestFinished(() => store.close())
  const { id } = await line.json('keys', 'create', '--name', 'batch')
  expect(await line.json('keys', 'list')).toMatchObject({ keys: [{ id, name: 'batch' }] })
  const { code, stderr } = await line.run('keys', 'grant', String(id), '1')
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /\nanother gateway uses the database .*: process .*; stop it, or pass its address with --url\n$/,
  )
})

test('without a master key, keys are shown and created, and all else says what is missing', async () => {
  const line = await commandLine()
  setVariables({ GATEWAY_MASTER_KEY: undefined })
  const { key, ...record } = await line.json('keys', 'create', '--name', 'batch')
  expect(key).toMatch(/^sk-gw-/)
  expect(await line.json('keys', 'list')).toEqual({ keys: [record] })
  const refused = await line.run('keys', 'create', '--name', 'b', '--group-id', 'c'.repeat(32))
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/\ngroup_id: no such group\n$/),
  })
  for (const args of [['keys', 'disable', String(record['id'])], ['usage']]) {
    const { code, stderr } = await line.run(...args)
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(/MASTER_KEY/) })
  }
})

test('a configuration without auth is bad usage', async () => {
  const line = await commandLine()
  setVariables({ GATEWAY_AUTH__ENABLED: 'false' })
  const offline = await line.run('keys', 'list')
  expect(offline).toMatchObject({
    code: 2,
    stderr: `${line.config}: auth.enabled is false; set it to true to use keys\n`,
  })
  await line.serve()
  const running = await line.run('keys', 'list')
  expect(running).toMatchObject({ code: 2, stderr: expect.stringMatching(/auth.enabled is false/) })
})

test('an invalid configuration is bad usage, unless a gateway runs that keeps the former one', async () => {
  const line = await commandLine()
  await line.serve()
  setVariables({ GATEWAY_AUTH__RETENTION_DAYS: 'many' })
  expect(await line.run('keys', 'list')).toMatchObject({ code: 0 })
  const other = await commandLine('[servr]\n')
  expect(await other.run('keys', 'list')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^servr \(line \d+\): unknown/),
  })
})
