import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandLine, runCommand, setVariables } from './support/cli.ts'
import { valueOf } from './support/store.ts'

async function written(config: string) {
  const line = await commandLine()
  writeFileSync(line.config, config)
  return line
}

const config = `
[server]
port = 9000
[auth]
enabled = true
[webhooks]
url = "https://hooks.example/services/secret?token=secret"
[[providers]]
name = "p"
kind = "openai"
base_url = "https://p.example/v1"
proxy = "http://me:secret@proxy.example:3128"
models = [{ id = "m" }]
`

test('each setting has its value and its origin', async () => {
  const line = await written(config)
  setVariables({ GATEWAY_SERVER__BODY_LIMIT: '1000' })
  const { stdout } = await line.run('config', '--effective', '--json')
  const settings = JSON.parse(stdout)
  const find = (setting: string) =>
    settings.find((each: { setting: string }) => each.setting === setting)
  expect(find('server.port')).toEqual({ setting: 'server.port', value: 9000, origin: 'file' })
  expect(find('server.body_limit')).toEqual({
    setting: 'server.body_limit',
    value: 1000,
    origin: 'environment',
    variable: 'GATEWAY_SERVER__BODY_LIMIT',
  })
  expect(find('server.host')).toMatchObject({ value: '127.0.0.1', origin: 'default' })
  expect(find('providers[0].models[0].id')).toMatchObject({ value: 'm', origin: 'file' })
  expect(find('providers[0].models[0].capabilities')).toMatchObject({ origin: 'default' })
})

test('credentials in addresses are masked', async () => {
  const { stdout } = await (await written(config)).run('config', '--json')
  expect(stdout).not.toContain('secret')
  expect(stdout).toContain('http://***@proxy.example:3128')
  // The path of an incoming webhook is what authenticates its senders.
  expect(stdout).toContain('https://hooks.example/***')
})

test('without --effective only the settings that are set are shown, as a table', async () => {
  const { stdout } = await (await written('[server]\nport = 9000')).run('config')
  expect(stdout).toBe('SETTING      VALUE  FROM\nserver.port  9000   file\n')
})

test('an invalid file is bad usage', async () => {
  const line = await written('[server]\nport = "x"')
  expect(await line.run('config')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^server\.port \(line 2\)/),
  })
})

test('schema prints the JSON Schema of the file', async () => {
  const { stdout } = await runCommand('schema')
  expect(JSON.parse(stdout)).toEqual(JSON.parse(readFileSync('gateway.schema.json', 'utf8')))
})

test('backup copies the database of a running gateway, for this user only, and replaces no file', async () => {
  const line = await commandLine()
  await line.serve()
  await line.json('keys', 'create', '--name', 'kept')
  const copy = join(line.folder, 'copy.db')
  expect(await line.run('backup', copy)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^copied .*gateway\.db to .*copy\.db: \d+ bytes\n$/),
  })
  expect(await valueOf(copy, 'select name from virtual_keys')).toBe('kept')
  expect(statSync(copy).mode & 0o777).toBe(0o600)
  expect(await line.run('backup', copy)).toMatchObject({
    code: 1,
    stderr: `${copy}: exists; choose another name\n`,
  })
})

test('backup without a database, or of a file that is none, leaves no copy', async () => {
  const line = await commandLine()
  const copy = join(line.folder, 'copy.db')
  expect(await line.run('backup', copy)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^there is no database at /),
  })
  writeFileSync(join(line.folder, 'gateway.db'), 'text'.repeat(2_000))
  expect(await line.run('backup', copy)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/the file is not a database\n$/),
  })
  expect(() => readFileSync(copy)).toThrow('ENOENT')
})
