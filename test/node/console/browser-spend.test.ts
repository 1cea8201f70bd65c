import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { goTo, hasBrowser, openBrowser, short, type Visit, visit } from './visit.ts'

/* The spend of the console in a browser. */

openBrowser()

async function openSpend(tab: Page, query = ''): Promise<void> {
  await tab.goto(`${new URL(tab.url()).origin}/#spend${query}`)
  await tab.getByLabel('Time').waitFor()
}

interface Spent extends Visit {
  readonly groupId: string
}

/** A console whose usage log has two keys, one of them in a group, with a refused and a failed request. */
async function visitSpent(): Promise<Spent> {
  const world = await visit()
  const { host } = world
  const { body } = await host.admin('POST', '/admin/groups', { name: 'search team', budget_max: 2 })
  const groupId = String(body['id'])
  const member = await host.key({ name: 'search service', group_id: groupId, budget_max: 1 })
  const { key } = await host.key({ name: '=batch', budget_max: 0.0003 })
  await host.chat(member.key, { ...short, model: 'demo' })
  await host.chat(member.key, { ...short, model: 'cut' })
  await host.chat(key, { ...short, model: 'demo' })
  await host.chat(key, { ...short, model: 'demo' })
  const sums = '/admin/usage?group_by=total'
  await expect
    .poll(async () => JSON.stringify((await host.admin('GET', sums)).body))
    .toContain('"requests":4')
  return { ...world, groupId }
}

const rowsOf = (tab: Page) => tab.locator('table.spend tbody tr')

describe.skipIf(!hasBrowser)('the spend in a browser', () => {
  test('the spend is shown over time, and by model', async () => {
    const { tab } = await visitSpent()
    await goTo(tab, 'Spend')
    await tab
      .getByRole('img', { name: /^Spend by hour: \$0\.000\d+ in the last 24 hours$/ })
      .waitFor()
    await tab.getByLabel('Time').selectOption('Last 30 days')
    await tab
      .getByRole('img', { name: /^Spend by day: \$0\.000\d+ in the last 30 days$/ })
      .waitFor()
    expect(await tab.locator('.u-wrap canvas').count()).toBe(1)
    await tab.getByRole('heading', { name: 'What it is made of' }).waitFor()
    await tab
      .getByRole('row')
      .filter({ hasText: /^output/ })
      .waitFor()
    await tab.getByLabel('by').first().selectOption('Model')
    await rowsOf(tab).filter({ hasText: 'demo' }).waitFor()
  })

  test('a group leads to its keys and a key to its models, and the address keeps the view', async () => {
    const { tab, groupId } = await visitSpent()
    await openSpend(tab, '?by=group')
    const group = rowsOf(tab).filter({ hasText: 'search team' })
    await group.getByText('of $2.00').waitFor()
    expect(await rowsOf(tab).count()).toBe(2)
    await group.getByRole('link').click()
    await rowsOf(tab).filter({ hasText: 'search service' }).getByRole('link').click()
    await expect.poll(() => rowsOf(tab).count()).toBe(2)
    await rowsOf(tab).filter({ hasText: 'demo' }).waitFor()
    expect(await tab.getByLabel('by').first().inputValue()).toBe('model')
    await tab.reload()
    await rowsOf(tab).filter({ hasText: 'cut' }).waitFor()
    const trail = tab.getByRole('list', { name: 'Only' })
    expect(await trail.innerText()).toMatch(/Group search team ✕\s+Key search service ✕/)
    await trail.getByRole('link', { name: 'Show all, not only search service' }).click()
    await expect.poll(() => new URL(tab.url()).hash).toBe(`#spend?by=key&group=${groupId}`)
    await tab.goBack()
    await rowsOf(tab).filter({ hasText: 'cut' }).waitFor()
  })

  test('refusals are apart from failures, and the chart has a series for each row', async () => {
    const { tab } = await visitSpent()
    await openSpend(tab)
    const cells = async (name: string) => {
      const row = rowsOf(tab).filter({ hasText: name })
      const labels = ['Requests', 'Refused', 'Failed']
      return Promise.all(labels.map((label) => row.locator(`[data-label="${label}"]`).innerText()))
    }
    await rowsOf(tab).first().waitFor()
    expect(await cells('search service')).toEqual(['2', '0', '1'])
    expect(await cells('=batch')).toEqual(['2', '1', '0'])
    const series = await tab.locator('.legend > span').allInnerTexts()
    expect(series.map((text) => text.trim()).sort()).toEqual(['=batch', 'search service'])
  })

  test('own dates are days of UTC, and a time without requests says so', async () => {
    const { tab } = await visitSpent()
    await openSpend(tab)
    await tab.getByLabel('Time').selectOption('Own dates')
    await tab.getByRole('img', { name: /^Spend by day: \$0\.000\d+ from/ }).waitFor()
    await tab.locator('label', { hasText: 'from' }).locator('input').fill('2020-01-01')
    await tab.getByText('Choose at most 366 days.').waitFor()
    await tab.locator('label', { hasText: /^to/ }).locator('input').fill('2020-01-31')
    await tab.getByText('no such request from 1 Jan to 31 Jan').waitFor()
    expect(new URL(tab.url()).hash).toBe('#spend?span=dates&from=2020-01-01&to=2020-01-31')
    await tab.getByLabel('Time').selectOption('This month')
    await tab.getByRole('img', { name: /this month/ }).waitFor()
  })

  test('the sums are saved as a file', async () => {
    const { tab } = await visitSpent()
    await openSpend(tab)
    await rowsOf(tab).first().waitFor()
    const saving = tab.waitForEvent('download')
    await tab.getByRole('button', { name: 'Export CSV' }).click()
    const saved = await saving
    expect(saved.suggestedFilename()).toMatch(/^spend-by-key-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv$/)
    const lines = readFileSync(await saved.path(), 'utf8').split('\r\n')
    expect(lines).toHaveLength(4)
    expect(lines[0]).toBe('key,id,cost_usd,requests,served,refused,failed,tokens_in,tokens_out')
    expect(lines.slice(1, 3).sort()).toEqual([
      expect.stringMatching(/^'=batch,\w{32},0\.000\d+,2,1,1,0,\d+,\d+$/),
      expect.stringMatching(/^search service,\w{32},0\.000\d+,2,1,0,1,\d+,\d+$/),
    ])
  })

  test('a deleted key keeps its name', async () => {
    const { tab, host } = await visitSpent()
    const { keys } = (await host.admin('GET', '/admin/keys')).body as { keys: { id: string }[] }
    await host.admin('DELETE', `/admin/keys/${keys[0]?.id}`)
    await openSpend(tab)
    const row = rowsOf(tab).filter({ hasText: 'search service (deleted)' })
    await expect.poll(() => row.count()).toBe(1)
  })
})
