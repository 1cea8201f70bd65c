import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type CommandLine, commandLine, runCommand, setVariables } from './support/cli.ts'
import { masterKey } from './support/keyed-host.ts'
import { connect, folder } from './support/store.ts'

/*
 * A relative `db_path` begins in the working directory, so a command that runs elsewhere finds no database. It
 * must say so, and leave none behind.
 */

const hint =
  'check auth.db_path and the working directory, where a relative path begins (only `gateway serve` and ' +
  '`gateway keys create` create a database)'

const id = 'ab'.repeat(16)

/** The commands that need a database, without those that create one. */
const commands: readonly (readonly string[])[] = [
  ['keys', 'show', id],
  ['keys', 'update', id, '--name', 'a'],
  ['keys', 'rotate', id],
  ['keys', 'disable', id],
  ['keys', 'grant', id, '1'],
  ['keys', 'delete', id, '--yes'],
  ['groups', 'create', '--name', 'a'],
  ['groups', 'show', id],
  ['groups', 'update', id, '--name', 'a'],
  ['groups', 'delete', id, '--yes'],
  ['usage'],
  ['usage', '--json'],
  ['usage', '--csv'],
  ['backup', 'copy.db'],
  ['master-key', 'rotate'],
  ['explain', 'request.json', '--key', id],
]

/** A command line in a folder that is also the working directory, with the relative `db_path` of the default. */
async function elsewhere(): Promise<CommandLine> {
  const line = await commandLine()
  const before = process.cwd()
  process.chdir(line.folder)
  onTestFinished(() => process.chdir(before))
  writeFileSync('request.json', '{"model":"demo","messages":[{"role":"user","content":"Hi"}]}')
  setVariables({
    GATEWAY_AUTH__DB_PATH: 'gateway.db',
    GATEWAY_MASTER_KEY_OLD: '1a'.repeat(32),
  })
  return line
}

describe.each(['with', 'without'])('%s a master key', (how) => {
  const chooseKey = () =>
    setVariables({ GATEWAY_MASTER_KEY: how === 'with' ? masterKey : undefined })

  test('keys create creates the database, and says where', async () => {
    const { run, folder: place } = await elsewhere()
    chooseKey()
    const created = await run('keys', 'create', '--name', 'a', '--quiet')
    expect(created).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^sk-gw-[0-9a-f]{64}\n$/),
      stderr: `created the database ${join(place, 'gateway.db')}\n`,
    })
    const listed = await run('keys', 'list', '--json')
    expect(listed).toMatchObject({
      code: 0,
      stderr: `using the database ${join(place, 'gateway.db')}\n`,
    })
    expect(JSON.parse(listed.stdout)).toMatchObject({ keys: [{ name: 'a' }] })
  })

  test.each(['keys', 'groups'])('%s list is empty, with a warning', async (noun) => {
    const { run, folder: place } = await elsewhere()
    chooseKey()
    const files = readdirSync(place)
    for (const options of [[], ['--all']]) {
      const { code, stdout, stderr } = await run(noun, 'list', '--json', ...options)
      expect({ code, answer: JSON.parse(stdout), stderr }).toEqual({
        code: 0,
        answer: { [noun]: [] },
        stderr: `warning: there is no database at ${join(place, 'gateway.db')}; ${hint}\n`,
      })
    }
    expect(readdirSync(place)).toEqual(files)
  })
})

test.each(commands)('%s %s does not create a database', async (...args) => {
  const { run, folder: place } = await elsewhere()
  const files = readdirSync(place)
  const fault = `there is no database at ${join(place, 'gateway.db')}; ${hint}\n`
  expect(await run(...args)).toEqual({ code: 1, stdout: '', stderr: fault })
  expect(readdirSync(place)).toEqual(files)
})

test('explain needs no database for a request without a key', async () => {
  const { run, folder: place } = await elsewhere()
  const files = readdirSync(place)
  const { code, stdout, stderr } = await run('explain', 'request.json', '--json')
  expect({ code, answer: JSON.parse(stdout), stderr }).toMatchObject({
    code: 0,
    answer: { route: { id: 'demo' }, admission: { verdict: 'admitted' } },
    stderr: `warning: there is no database at ${join(place, 'gateway.db')}; ${hint}\n`,
  })
  expect(readdirSync(place)).toEqual(files)
})

test.each([
  ['an empty file', () => writeFileSync('gateway.db', ''), 'there is no database at '],
  [
    'the database of another program',
    async () => {
      const other = connect('gateway.db')
      await other.execute('create table recipes (name text)')
      other.close()
    },
    'not a database of the gateway: ',
  ],
])('%s is not taken for the database', async (_, prepare, fault) => {
  const { run, folder: place } = await elsewhere()
  await prepare()
  const files = readdirSync(place)
  for (const args of [['keys', 'show', id], ...commands.slice(-3, -1)]) {
    expect(await run(...args)).toEqual({
      code: 1,
      stdout: '',
      stderr: `${fault}${join(place, 'gateway.db')}; ${hint}\n`,
    })
  }
  expect(readdirSync(place)).toEqual(files)
})

test('commands that open the database name it on standard error', async () => {
  const { run, folder: place } = await elsewhere()
  const path = join(place, 'gateway.db')
  await run('groups', 'list')
  const { stdout: key } = await run('keys', 'create', '--name', 'a', '--json')
  const note = `using the database ${path}\n`
  for (const args of [
    ['keys', 'show', JSON.parse(key).id],
    ['groups', 'create', '--name', 'team'],
    ['usage', '--csv'],
    ['explain', 'request.json', '--json'],
  ]) {
    expect(await run(...args)).toMatchObject({ code: 0, stderr: note })
  }
  const copied = await run('backup', 'copy.db')
  expect(copied.stdout).toMatch(`copied ${path} to ${join(place, 'copy.db')}: `)
  setVariables({ GATEWAY_MASTER_KEY: '2b'.repeat(32), GATEWAY_MASTER_KEY_OLD: masterKey })
  expect(await run('master-key', 'rotate')).toMatchObject({ code: 0, stderr: note })
})

test('a command that a running gateway answers opens no database', async () => {
  const line = await elsewhere()
  setVariables({ GATEWAY_AUTH__DB_PATH: join(folder(), 'gateway.db') })
  await line.serve()
  setVariables({ GATEWAY_AUTH__DB_PATH: 'gateway.db' })
  expect(await line.run('keys', 'list')).toMatchObject({ code: 0, stderr: '' })
})

test('a key that the running gateway does not learn of needs a reload, and the command says so', async () => {
  const line = await elsewhere()
  await line.serve()
  setVariables({ GATEWAY_MASTER_KEY: undefined })
  const { code, stdout, stderr } = await line.run('keys', 'create', '--name', 'late', '--json')
  expect({ code, name: JSON.parse(stdout).name }).toEqual({ code: 0, name: 'late' })
  expect(stderr).toBe(
    `using the database ${join(line.folder, 'gateway.db')}\n` +
      'a gateway that runs on this database accepts the key after a reload (SIGHUP) or a restart\n',
  )
  setVariables({ GATEWAY_MASTER_KEY: masterKey })
  expect(await line.run('keys', 'create', '--name', 'now')).toMatchObject({ code: 0, stderr: '' })
})

test('the address of a server is named without its secrets', async () => {
  setVariables({ GATEWAY_AUTH__DB_PATH: 'http://user:canary@127.0.0.1:1/db?authToken=canary' })
  const line = await commandLine()
  setVariables({ GATEWAY_AUTH__DB_PATH: 'http://user:canary@127.0.0.1:1/db?authToken=canary' })
  const { code, stderr } = await runCommand('keys', 'list', '--config', line.config)
  expect(code).toBe(1)
  expect(stderr).not.toContain('canary')
})
