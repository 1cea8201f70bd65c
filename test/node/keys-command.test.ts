import { describe, expect, onTestFinished, test } from 'vitest'
import { unlimitedFields } from '../support/unlimited.ts'
import { type CommandLine, commandLine, runCommand } from './support/cli.ts'

describe('keys create', () => {
  test('keys create prints the record and the secret, and keys list only the record', async () => {
    const line = await commandLine()
    const { key, ...record } = await line.json('keys', 'create', '--name', 'batch')
    expect(key).toMatch(/^sk-gw-[0-9a-f]{64}$/)
    expect(record).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      name: 'batch',
      group_id: null,
      ...unlimitedFields,
      budget_max: null,
      budget_spent: 0,
      rpm_limit: null,
      tpm_limit: null,
      expires_at: null,
      disabled: false,
      grace_ends_at: null,
      created_at: expect.closeTo(Date.now() / 1000, -1),
      deleted_at: null,
    })
    const { stdout } = await line.run('keys', 'list', '--json')
    expect(JSON.parse(stdout)).toEqual({ keys: [record] })
    expect(stdout).not.toMatch(/sk-gw|digest/)
  })

  test('keys create accepts limits, a list of models and an expiry', async () => {
    const line = await commandLine()
    const limits =
      '--models gpt-5 org/* --budget-period month --rpm-limit 0 --tpm-limit 90000 --max-parallel 3 --expires-at 1764000000'
    const args = `keys create --name batch --budget-max 12.345678901 ${limits}`.split(' ')
    expect(await line.json(...args)).toMatchObject({
      budget_max: 12.345678901,
      budget_period: 'month',
      models: ['gpt-5', 'org/*'],
      rpm_limit: 0,
      tpm_limit: 90_000,
      max_parallel: 3,
      expires_at: 1_764_000_000,
    })
  })

  test('--expires-at takes a date, which begins in UTC, and a time with its offset', async () => {
    const line = await commandLine()
    await line.serve()
    for (const time of ['2026-12-31', '2026-12-31T01:00:00+01:00', '2026-12-31T00:00Z']) {
      const key = await line.json('keys', 'create', '--name', 'batch', '--expires-at', time)
      expect(key['expires_at']).toBe(1_798_675_200)
    }
  })

  test('--expires-at 2h is two hours from now', async () => {
    const line = await commandLine()
    const key = await line.json('keys', 'create', '--name', 'batch', '--expires-at', '2h')
    expect(Number(key['expires_at']) - Number(key['created_at'])).toBeCloseTo(7200, -1)
  })

  test('--models takes ids that are separated by blanks and by commas', async () => {
    const line = await commandLine()
    const key = await line.json('keys', 'create', '--name', 'batch', '--models', 'a, b*,', 'c')
    expect(key['models']).toEqual(['a', 'b*', 'c'])
  })

  test('values that the admin API refuses are bad usage', async () => {
    const line = await commandLine()
    await line.serve()
    for (const [option, value, message] of [
      ['--name', '', /name: must be 1 to 256 characters/],
      ['--budget-max', '1e13', /budget_max: .*US dollars from 1e-9 to 1e12/],
      ['--models', 'a*b', /models.*must be a model id/],
      ['--budget-period', 'year', /budget_period: .*day, week, month/],
      ['--group-id', 'c'.repeat(32), /group_id: no such group/],
    ] as const) {
      const args = ['keys', 'create', '--name', 'batch', option, value]
      const { code, stdout, stderr } = await line.run(...args)
      expect({ code, stdout, stderr }).toEqual({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(message),
      })
    }
  })

  test.each([
    ['--budget-max', '-1', /--budget-max.*US dollars/],
    ['--budget-max', 'Infinity', /--budget-max.*US dollars/],
    ['--budget-max', '0x10', /--budget-max.*US dollars/],
    ['--rpm-limit', '1.5', /--rpm-limit.*whole number/],
    ['--tpm-limit', '', /--tpm-limit.*whole number/],
    ['--max-parallel', '-1', /--max-parallel.*whole number/],
    ['--tpm-limit', '9007199254740992', /--tpm-limit.*whole number/],
    ['--expires-at', 'tomorrow', /--expires-at.*ISO time/],
    ['--expires-at', '2026-13-01', /--expires-at.*ISO time/],
    ['--expires-at', '2026-12-31T18:00:00', /--expires-at.*ISO time/],
    ['--colour', 'red', /unknown option '--colour'/],
  ])('%s %j is bad usage', async (option, value, message) => {
    const args = ['keys', 'create', '--name', 'batch', option, value]
    const { code, stdout, stderr } = await runCommand(...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })

  test('keys create requires a name', async () => {
    const { code, stderr } = await runCommand('keys', 'create')
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(/--name/) })
  })
})

describe('the other commands', () => {
  test('update changes the given fields, and none removes them', async () => {
    const { line, id } = await withKey()
    const changes = '--name renamed --budget-max 5 --rpm-limit 10 --models demo'.split(' ')
    expect(await line.json('keys', 'update', id, ...changes)).toMatchObject({
      name: 'renamed',
      budget_max: 5,
      rpm_limit: 10,
      models: ['demo'],
    })
    const removals = '--budget-max none --rpm-limit none --models none'.split(' ')
    expect(await line.json('keys', 'update', id, ...removals)).toMatchObject({
      name: 'renamed',
      budget_max: null,
      rpm_limit: null,
      models: null,
    })
    expect(await line.run('keys', 'update', id)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^nothing to change/),
    })
  })

  test('rotate prints a new secret, and --grace lets the former one in', async () => {
    const { line, id, key } = await withKey()
    const rotated = await line.json('keys', 'rotate', id, '--grace', '24h')
    expect(rotated['key']).not.toBe(key)
    expect(Number(rotated['grace_ends_at']) - Date.now() / 1000).toBeCloseTo(86_400, -2)
    expect(await statusOf(line, key)).toBe(200)
    await line.run('keys', 'rotate', id)
    expect(await statusOf(line, key)).toBe(401)
    const { code, stderr } = await line.run('keys', 'rotate', id, '--grace', '30d')
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(/604800/) })
  })

  test('disable and enable turn a key off and on', async () => {
    const { line, id, key } = await withKey()
    expect(await line.json('keys', 'disable', id)).toMatchObject({ disabled: true })
    expect(await statusOf(line, key)).toBe(401)
    await line.run('keys', 'enable', id)
    expect(await statusOf(line, key)).toBe(200)
  })

  test('grant adds to the budget', async () => {
    const { line, id } = await withKey('--budget-max', '1.5')
    expect(await line.json('keys', 'grant', id, '2.25')).toMatchObject({ budget_max: 3.75 })
    const { code, stderr } = await line.run('keys', 'grant', id, 'none')
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(/US dollars/) })
  })

  test('delete requires --yes when standard input is not a terminal', async () => {
    const { line, id, key } = await withKey()
    const refused = await line.run('keys', 'delete', id)
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/^--yes: required/) })
    expect(await statusOf(line, key)).toBe(200)
    const deleted = await line.run('keys', 'delete', id, '--yes')
    expect(deleted).toEqual({ code: 0, stdout: `deleted the key ${id}\n`, stderr: '' })
    expect(await statusOf(line, key)).toBe(401)
    expect(await line.json('keys', 'list')).toEqual({ keys: [] })
    expect(await line.json('keys', 'list', '--all')).toMatchObject({ keys: [{ id }] })
  })

  test('the first digits of an id are enough if they are unique', async () => {
    const { line, id } = await withKey()
    expect(await line.json('keys', 'show', id.slice(0, 8))).toMatchObject({ id })
    const other = id.startsWith('0') ? '1111' : '0000'
    const missing = await line.run('keys', 'show', other)
    expect(missing).toMatchObject({
      code: 2,
      stderr: `id: no key has the name "${other}", or an id that begins so\n`,
    })
    expect(await line.run('keys', 'show', 'no id')).toMatchObject({
      code: 2,
      stderr: 'id: no key has the name "no id", or an id that begins so\n',
    })
  })

  test('-q prints only the secret', async () => {
    const { line, id } = await withKey()
    for (const args of [
      ['create', '--name', 'k'],
      ['rotate', id],
    ]) {
      const { stdout } = await line.run('keys', ...args, '-q')
      expect(stdout).toMatch(/^sk-gw-[0-9a-f]{64}\n$/)
    }
  })

  test('groups have the commands of keys, without secrets', async () => {
    const { line, id } = await withKey()
    const group = await line.json('groups', 'create', '--name', 'team', '--budget-max', '10')
    const groupId = String(group['id'])
    await line.run('keys', 'update', id, '--group-id', groupId)
    expect(await line.json('groups', 'grant', groupId, '5')).toMatchObject({ budget_max: 15 })
    expect(await line.json('groups', 'update', groupId, '--tpm-limit', '7')).toMatchObject({
      tpm_limit: 7,
    })
    const refused = await line.run('groups', 'delete', groupId, '-y')
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/has 1 key/) })
    await line.run('keys', 'update', id, '--group-id', 'none')
    await line.run('groups', 'delete', groupId, '-y')
    expect(await line.json('groups', 'list')).toEqual({ groups: [] })
  })
})

describe('the output', () => {
  test('a list at a terminal is a table with short ids and the spend as a bar', async () => {
    const { line, id } = await withKey('--budget-max', '1', '--rpm-limit', '6000')
    showAtTerminal()
    const { stdout } = await line.run('keys', 'list')
    const [head, row] = stdout.split('\n')
    expect(head).toMatch(/^ID +NAME +SPENT +BUDGET +LIMITS +STATE$/)
    expect(row).toMatch(/^(\w{8}) {2}a key {2}\$0\.00 {3}\$1\.00 {2}░{10} {2}6,000 rpm {2}active$/)
    expect(row).toContain(id.slice(0, 8))
  })

  test('an empty list at a terminal says so', async () => {
    const { line, id } = await withKey()
    await line.run('keys', 'delete', id, '-y')
    showAtTerminal()
    expect((await line.run('keys', 'list')).stdout).toBe('there are no keys\n')
  })

  test('a new key at a terminal is shown with its fields, then its secret', async () => {
    const { line } = await withKey()
    showAtTerminal()
    const { stdout } = await line.run('keys', 'create', '--name', 'k', '--tpm-limit', '2000000')
    expect(stdout).toMatch(
      /^id +[0-9a-f]{32}\nname +k\nstate +active\nspent +\$0\.00 of no cap\n.*\nlimits +2M tpm\n[^]*\n\nsk-gw-\w{64}\n/,
    )
  })

  test('elsewhere the table has whole ids, and no bars', async () => {
    const { line, id } = await withKey('--budget-max', '5')
    const { stdout } = await line.run('keys', 'list')
    expect(stdout).toMatch(new RegExp(`^ID .*\\n${id}  a key  \\$0\\.00   \\$5\\.00 +active\\n$`))
  })
})

describe('a name in place of the id', () => {
  test('is enough if one record has it', async () => {
    const { line, id } = await withKey()
    expect(await line.json('keys', 'show', 'a key')).toMatchObject({ id })
    expect(await line.json('keys', 'update', 'a key', '--name', 'ci')).toMatchObject({ id })
    expect(await line.json('keys', 'grant', 'ci', '1').catch(String)).toContain('budget')
    expect((await line.run('keys', 'delete', 'ci', '--yes')).stdout).toBe(`deleted the key ${id}\n`)
  })

  test('that several records have is refused with their ids', async () => {
    const { line, id } = await withKey()
    const { id: other } = await line.json('keys', 'create', '--name', 'a key')
    const { code, stderr } = await line.run('keys', 'disable', 'a key')
    expect(code).toBe(2)
    expect(stderr).toMatch(
      /^id: 2 keys have the name "a key", or an id that begins so; give the id: /,
    )
    for (const each of [id, other]) expect(stderr).toContain(String(each))
    expect(await line.json('keys', 'show', id)).toMatchObject({ disabled: false })
  })

  test('that is the beginning of the id of another record is refused', async () => {
    const { line, id } = await withKey()
    await line.json('keys', 'create', '--name', id.slice(0, 6))
    expect(await line.run('keys', 'rotate', id.slice(0, 6))).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^id: 2 keys have the name/),
    })
  })

  test('of a group is taken by --group-id and --group, and shown', async () => {
    const { line } = await withKey()
    const { id: group } = await line.json('groups', 'create', '--name', 'search')
    const { id } = await line.json('keys', 'create', '--name', 'k', '--group-id', 'search')
    expect(await line.json('keys', 'list', '--group', 'search')).toMatchObject({
      keys: [{ id, group_id: group }],
    })
    expect((await line.run('keys', 'show', 'k')).stdout).toMatch(/^group +search [0-9a-f]{32}$/m)
    expect((await line.run('keys', 'list')).stdout).toMatch(/^\w{32}  k +search/m)
    expect(await line.run('keys', 'list', '--group', 'none')).toMatchObject({
      code: 2,
      stderr: 'id: no group has the name "none", or an id that begins so\n',
    })
  })
})

test('--sort orders a list by name, spend, share of the budget or age', async () => {
  const { line } = await withKey()
  await line.json('keys', 'create', '--name', 'b', '--budget-max', '0')
  const names = async (order: string) => {
    const { keys } = await line.json('keys', 'list', '--sort', order)
    return (keys as { name: string }[]).map(({ name }) => name)
  }
  expect(await names('name')).toEqual(['a key', 'b'])
  expect(await names('budget')).toEqual(['b', 'a key'])
  expect(await line.run('keys', 'list', '--sort', 'size')).toMatchObject({ code: 2 })
})

/** Lets standard output be a terminal until the test ends. */
function showAtTerminal(): void {
  const { isTTY } = process.stdout
  process.stdout.isTTY = true
  onTestFinished(() => {
    process.stdout.isTTY = isTTY
  })
}

/** A running gateway with a key. */
async function withKey(...options: readonly string[]) {
  const line = await commandLine()
  await line.serve()
  const { id, key } = await line.json('keys', 'create', '--name', 'a key', ...options)
  return { line, id: String(id), key: String(key) }
}

async function statusOf({ address }: CommandLine, key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` }
  return (await fetch(`${address}/v1/models`, { headers })).status
}
