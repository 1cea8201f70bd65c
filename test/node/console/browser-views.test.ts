import { describe, expect, test } from 'vitest'
import { expectText, goTo, hasBrowser, openBrowser, short, visit } from './visit.ts'

/*
 * The views of the overview, the configuration and the audit log in a real browser, and what all views have in common.
 */

openBrowser()

const titles = ['Overview', 'Requests', 'Models', 'Spend', 'Keys', 'Audit', 'Chat']

describe.skipIf(!hasBrowser)('the views in a browser', () => {
  test('each has an address and a title of its own, and the back button returns', async () => {
    const { tab } = await visit()
    for (const title of titles) {
      await goTo(tab, title)
      await tab.getByRole('heading', { name: title, level: 1 }).waitFor()
      await expect.poll(() => tab.title()).toBe(`${title} · Model Gateway`)
      expect(tab.url()).toContain(`#${title.toLowerCase()}`)
    }
    await tab.goBack()
    await expect.poll(() => tab.title()).toBe('Audit · Model Gateway')
    await tab.evaluate('sessionStorage.clear()')
    await tab.reload()
    await expect.poll(() => tab.title()).toBe('Log in · Model Gateway')
  })

  test('the link past the navigation stays in its view', async () => {
    const { tab } = await visit()
    await goTo(tab, 'Audit')
    await tab.getByRole('link', { name: 'Skip to content' }).focus()
    await tab.keyboard.press('Enter')
    expect(await tab.evaluate('document.activeElement.id')).toBe('main')
    await tab.getByRole('heading', { name: 'Audit', level: 1 }).waitFor()
  })

  test('a provider is checked with each of its credentials', async () => {
    const { tab } = await visit()
    const check = async (name: string) => {
      await tab.getByRole('button', { name: `Check ${name}`, exact: true }).click()
      const row = tab.getByRole('listitem').filter({ has: tab.locator(`strong[title=${name}]`) })
      await row.locator('.checked').waitFor()
      return row.locator('.checked').textContent()
    }
    expect(await check('demo')).toMatch(/^works .* with demo: first token after \d+ ms, \$0\.\d+$/)
    expect(await check('keyless')).toMatch(/^not asked .*NOT_SET_KEY is unset/)
    expect(await check('vendor')).toMatch(/^failed .* with m: .*status 503/)
  })

  test('a chart gives the numbers of the time under the pointer, and of arrow keys', async () => {
    const { tab, host } = await visit()
    const { key } = await host.key()
    await host.chat(key, { ...short, model: 'demo' })
    const chart = tab.getByRole('img', { name: /^Requests a minute: 1 in this minute/ })
    await chart.waitFor()
    await chart.focus()
    await tab.keyboard.press('ArrowLeft')
    const numbers = tab.locator('.tooltip')
    expect(await numbers.textContent()).toMatch(
      /^\d\d:\d\d .*served1client errors0server errors0all1$/,
    )
    await tab.keyboard.press('ArrowLeft')
    await numbers.getByText('served0').waitFor()
    await tab.keyboard.press('Tab')
    await numbers.waitFor({ state: 'detached' })
    await chart.hover()
    await numbers.waitFor()
  })

  test('after a start the totals of the hour have what the usage log has of before', async () => {
    const { tab, host } = await visit()
    const { key } = await host.key()
    await host.chat(key, { ...short, model: 'demo' })
    const sum = { requests: 40, requests_server_error: 10, tokens_in: 5, tokens_out: 5, cost: 2 }
    await tab.route('**/api/admin/usage?group_by=total&*', (route) =>
      route.fulfill({ json: { groups: [sum] } }),
    )
    await tab.reload()
    const tile = (name: string) =>
      tab.locator('.tile').filter({ has: tab.getByText(name, { exact: true }) })
    await expect.poll(() => tile('Requests').textContent()).toBe('Requests41in the last hour')
    expect(await tile('Server errors').textContent()).toBe('Server errors24%10 of 41')
    expect(await tile('Spend').textContent()).toMatch(/^Spend\$2\.00.*in the last hour$/)
  })

  test('the tile of the errors leads to the requests that failed', async () => {
    const { tab, host } = await visit()
    const { key } = await host.key()
    await host.chat(key, { ...short, model: 'cut', stream: true })
    await tab.getByRole('link', { name: 'Server errors' }).click()
    await tab.locator('tr.request').filter({ hasText: 'LM-3010' }).waitFor()
    expect(await tab.getByLabel(/^Status/).inputValue()).toBe('5xx')
  })

  test('the models are shown with their prices, and what has none', async () => {
    const { tab } = await visit()
    await goTo(tab, 'Models')
    const rows = tab.locator('.models tr.opens')
    const model = rows.filter({ hasText: 'vendor' })
    expect(await model.textContent()).toContain('$2.50$10.00')
    expect(await rows.filter({ hasText: 'cutting' }).textContent()).toContain('no price')
    await model.click()
    await tab.getByText('Cached input, 1M tokens').waitFor()
    expect(await tab.locator('.details').textContent()).toContain('Fallbacksdemo')
    await tab.getByRole('searchbox').fill('hang')
    await expect.poll(() => rows.count()).toBe(1)
  })

  test('the routes and the switches are shown with their targets', async () => {
    const { tab } = await visit({ config: routes })
    await goTo(tab, 'Models')
    await tab.getByRole('link', { name: 'Routes', exact: true }).click()
    const items = tab.locator('.routes > li')
    await expect.poll(() => items.count()).toBe(2)
    expect(await items.first().textContent()).toContain('weighted')
    const targets = items.first().locator('tbody tr')
    expect(await targets.allTextContents()).toEqual([
      'demodemoclosed30––',
      'mvendorclosedfallback0––',
    ])
    const cases = items.last().locator('.cases li')
    expect(await cases.allTextContents()).toEqual(['if input_tokens fits: m', 'otherwise: demo'])
  })

  test('the settings in force are shown with their origin, and without secrets', async () => {
    const { tab } = await visit({ config: '[webhooks]\nurl = "http://127.0.0.1:9/secret"' })
    await tab.goto(`${new URL(tab.url()).origin}/#models?tab=settings`)
    await expectText(tab, 'webhooks.url')
    expect(await tab.locator('.settings').textContent()).not.toContain('secret')
    expect(await tab.getByRole('row').filter({ hasText: 'server.host' }).count()).toBe(0)
    await tab.getByLabel('Defaults, too').check()
    await tab.getByRole('row').filter({ hasText: 'server.host' }).waitFor()
    const database = tab.getByRole('row').filter({ hasText: 'auth.db_path' })
    expect(await database.textContent()).toContain('GATEWAY_AUTH__DB_PATH')
  })

  test('the audit log names what was changed, also what is deleted', async () => {
    const { tab, host } = await visit()
    const { id } = await host.key({ name: 'search service' })
    await host.admin('PATCH', `/admin/keys/${id}`, { rpm_limit: 5 })
    await host.admin('DELETE', `/admin/keys/${id}`)
    await goTo(tab, 'Audit')
    const rows = tab.locator('.audit tbody tr')
    await expect.poll(() => rows.count()).toBe(3)
    expect(await rows.first().textContent()).toMatch(/key: delete.*search service/)
    await tab.getByLabel(/^Action/).selectOption('key: update')
    await expect.poll(() => rows.count()).toBe(1)
    await tab.getByLabel(/^Action/).selectOption('All')
    await tab.getByRole('searchbox').fill('no such')
    await expectText(tab, '0 changes')
  })
})

const routes = `
[[routes]]
id = "spread"
strategy = "weighted"
targets = [{ model = "demo", weight = 3 }]
fallbacks = ["m"]
[[routes]]
id = "by-size"
strategy = "switch"
default = "demo"
cases = [{ target = "m", when = { input_tokens = { above = 1000 } } }]
`
