import { describe, expect, test } from 'vitest'
import { unlimitedFields } from '../support/unlimited.ts'
import { commandLine, runCommand } from './support/cli.ts'

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
    const { stdout } = await line.run('keys', 'list')
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
