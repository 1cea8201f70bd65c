import { expect, test } from 'vitest'
import {
  type AccountRecord,
  renderAccount,
  renderAccounts,
} from '../../adapters/node/commands/account-text.ts'
import { plain } from '../../adapters/node/output/style.ts'

const account: AccountRecord = {
  id: '5f0c3a7e9b1d4c28a6e0f7b2d9c4e831',
  name: '検索 team',
  group_id: null,
  models: ['gpt-*', 'demo'],
  budget_max: 20,
  budget_period: 'month',
  budget_spent: 15.5,
  budget_resets_at: 1_798_761_600,
  spent_total: 1234.5,
  rpm_limit: 600,
  tpm_limit: 2_000_000,
  max_parallel: 8,
  expires_at: null,
  disabled: false,
  grace_ends_at: null,
  created_at: 1_795_248_000,
  deleted_at: null,
}

const view = { style: plain, isTerminal: true, now: 1_795_250_000 }

test('a table aligns its columns, also beside wide characters, and shows spend as a bar', async () => {
  const free = {
    ...account,
    id: 'c1'.repeat(16),
    name: 'b',
    budget_max: null,
    budget_spent: 0.00021,
  }
  expect(await renderAccounts([account, free], view)).toBe(
    `
ID        NAME          SPENT        BUDGET              LIMITS                      STATE
5f0c3a7e  検索 team    $15.50  $20.00/month  ████████░░  600 rpm, 2M tpm, 8 at once  active
c1c1c1c1  b          $0.00021        no cap              600 rpm, 2M tpm, 8 at once  active
`.trim(),
  )
})

test.each([
  [{ deleted_at: 5 }, 'deleted'],
  [{ disabled: true }, 'disabled'],
  [{ expires_at: view.now }, 'expired'],
  [{ expires_at: 1_798_675_200 }, 'until 2026-12-31 00:00Z'],
])('the state of %j is %s', (change, state) => {
  const lines = renderAccount({ ...account, ...change }, view).split('\n')
  expect(lines.find((line) => line.startsWith('state'))).toMatch(new RegExp(` ${state}$`))
})

test('one record shows the fields that are set, and the former secret only while it works', () => {
  const text = renderAccount({ ...account, grace_ends_at: view.now + 60 }, view)
  expect(text).toContain('former secret until  2026-11-21 08:34Z')
  expect(text).toContain('resets               2027-01-01 00:00Z')
  expect(text).not.toMatch(/^(group|expires)/m)
  expect(renderAccount({ ...account, grace_ends_at: view.now }, view)).not.toContain('former')
})
