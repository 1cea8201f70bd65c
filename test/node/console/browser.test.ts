import { existsSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startDemo } from '../../../adapters/node/console/demo.ts'
import { type ServedConsole, serveConsole } from '../../../adapters/node/console/server.ts'
import { deferred, httpServer } from '../support/servers.ts'
import { openWorld, pageFolder } from './served.ts'
import {
  browser,
  configFor,
  expectText,
  goTo,
  hasBrowser,
  keyboardOf,
  openBrowser,
  short,
  visit,
} from './visit.ts'

/*
 * The console in a real browser. `CONSOLE_SCREENSHOTS=docs/images npx vitest run test/node/console`
 * also makes the screenshots of the documentation.
 */

openBrowser()

const screenshots = process.env['CONSOLE_SCREENSHOTS']

describe.skipIf(!hasBrowser)('the console in a browser', () => {
  test('the link logs in, its code leaves the address, and a reload stays logged in', async () => {
    const { tab } = await visit()
    expect(tab.url()).not.toContain('code')
    await tab.reload()
    await tab.getByText('live, version').waitFor()
    expect(await tab.getByRole('heading', { name: 'Overview' }).count()).toBe(1)
  })

  test('without the link the page asks for the code', async () => {
    const { console: served } = await openWorld({ config: configFor('http://[::1]') })
    const context = await browser.newContext()
    onTestFinished(() => context.close())
    const tab = await context.newPage()
    const { origin, hash } = new URL(served.link)
    await tab.goto(origin)
    await tab.getByLabel('Code').fill('wrong')
    await tab.keyboard.press('Enter')
    await tab.getByRole('alert').getByText('the code is not the one').waitFor()
    await tab.getByLabel('Code').fill(hash.slice('#code='.length))
    await tab.getByRole('button', { name: 'Open the console' }).click()
    await expectText(tab, 'live, version')
  })

  test('another tab is not logged in until it gets the code', async () => {
    const { tab, console: served } = await visit()
    const second = await tab.context().newPage()
    await second.goto(new URL(served.link).origin)
    await second.getByLabel('Code').waitFor()
    await second.goto(served.link)
    await expectText(second, 'live, version')
    await tab.reload()
    await expectText(tab, 'live, version')
  })

  test('a page on another port of the machine gets no cookie and cannot act', async () => {
    const { tab, console: served, host } = await visit()
    const cookies: (string | undefined)[] = []
    const other = await httpServer((request, response) => {
      cookies.push(request.headers.cookie)
      response.writeHead(200, { 'content-type': 'text/html' }).end('<title>another page</title>')
    })
    const { origin } = new URL(served.link)
    const attacker = await tab.context().newPage()
    await attacker.goto(other.url)
    const outcomes = await attacker.evaluate<string[]>(`(async () => {
      const url = '${origin}/api/admin/keys'
      const post = { method: 'POST', body: '{"name":"stolen"}', credentials: 'include' }
      const tryFetch = (init) =>
        fetch(url, init).then(({ type, status }) => type + ' ' + status, () => 'refused')
      // Until the window has left its first, empty page, which belongs to this one.
      const readStorage = async (opened) => {
        for (;;) {
          try { opened.sessionStorage.getItem('token') } catch { return 'refused' }
          await new Promise((resolve) => setTimeout(resolve, 10))
        }
      }
      return [
        await tryFetch({ credentials: 'include' }),
        await tryFetch({ ...post, headers: { 'x-console-token': 'x' } }),
        await tryFetch({ ...post, mode: 'no-cors' }),
        await readStorage(window.open('${origin}/#keys')),
        String(sessionStorage.getItem('token')),
      ]
    })()`)
    expect(outcomes).toEqual(['refused', 'refused', 'refused', 'refused', 'null'])
    expect(cookies.length).toBeGreaterThan(0)
    expect(new Set(cookies)).toEqual(new Set([undefined]))
    expect((await host.admin('GET', '/admin/keys')).body).toEqual({ keys: [] })
    await expectText(tab, 'live, version')
  })

  test('requests appear while they come in, and a broken provider shows its circuit and the reason', async () => {
    const { tab, host } = await visit()
    const { key } = await host.key({ name: 'search service', budget_max: 0.001 })
    await host.chat(key, { ...short, model: 'demo' })
    const rows = tab.getByRole('row')
    await rows.filter({ hasText: 'search service' }).filter({ hasText: '200' }).waitFor()
    await host.chat(key, { ...short, model: 'm' })
    const fallback = rows.filter({ hasText: 'm → demo' })
    await fallback.getByRole('button').click()
    await tab.getByText('answered with status 503').first().waitFor()
    const vendor = tab.getByRole('listitem').filter({ hasText: 'vendor' }).first()
    await vendor.getByText('circuit open').first().waitFor()
    expect(await vendor.textContent()).toMatch(/m circuit open, answered with status 503 \d+ s ago/)
  })

  test('a provider without a credential is shown so, with the variable that is unset', async () => {
    const { tab } = await visit()
    const provider = tab.getByRole('listitem').filter({ hasText: 'keyless' })
    await provider.getByText('no credential').waitFor()
    await provider.getByText('NOT_SET_KEY is unset').waitFor()
    expect(await provider.locator('.state.bad').count()).toBe(1)
    const demo = tab.getByRole('listitem').filter({ hasText: 'demo' }).first()
    expect(await demo.textContent()).toBe('demonot used yetCheck demo')
  })

  test('a parked credential is shown with its provider, and for how long', async () => {
    const { tab, host } = await visit()
    const { key } = await host.key()
    await host.chat(key, { ...short, model: 'pooled' })
    const provider = tab.getByRole('listitem').filter({ hasText: 'pool' }).first()
    const line = provider.getByRole('paragraph').filter({ hasText: 'POOL_' })
    await line.waitFor()
    // The other one was refused too, but it is the last.
    expect(await line.allTextContents()).toEqual([
      expect.stringMatching(/^POOL_A rate limited, parked for another [45] min$/),
    ])
  })

  test('a link whose stream broke is shown as failed and not as served', async () => {
    const { tab, host } = await visit()
    const { key } = await host.key()
    await host.chat(key, { ...short, model: 'cut', stream: true })
    const row = tab.getByRole('row').filter({ hasText: 'LM-3010' })
    await row.getByRole('button').click()
    const links = tab.locator('.details').getByRole('listitem')
    await links.filter({ hasText: 'closed the connection' }).waitFor()
    expect(await links.allTextContents()).toEqual([expect.stringMatching(/^cutting → cut closed/)])
  })

  test('a link whose answer the client no longer read is not shown as served', async () => {
    const { tab, host } = await visit()
    const { key } = await host.key()
    const leave = new AbortController()
    const response = await fetch(`${host.address}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({
        ...short,
        model: 'hang',
        stream: true,
        messages: [{ role: 'user', content: 'Hi' }],
      }),
      signal: leave.signal,
    })
    await response.body?.getReader().read()
    leave.abort()
    const row = tab.getByRole('row').filter({ hasText: 'LM-6001' })
    await row.getByRole('button').click()
    const links = tab.locator('.details').getByRole('listitem')
    await links.first().waitFor()
    expect(await links.allTextContents()).toEqual(['hanging → hang was answering'])
  })

  test('a key is created, its secret works, and its spend moves the bar', async () => {
    const { tab, host } = await visit()
    await tab.getByRole('link', { name: 'Keys' }).click()
    await tab.getByRole('button', { name: 'New key' }).click()
    await tab.getByLabel('Name').fill('nightly batch')
    await tab.getByLabel('Budget in US dollars').fill('0.001')
    await tab.getByLabel('The budget resets each').selectOption('month')
    await tab.getByLabel('Models').fill('demo*, m')
    await tab.getByRole('button', { name: 'Create key' }).click()
    const secret = await tab.getByLabel('Secret', { exact: true }).inputValue()
    await tab.getByRole('button', { name: 'Done' }).click()
    const row = tab.getByRole('row').filter({ hasText: 'nightly batch' })
    expect(await row.textContent()).toContain('demo*, m')
    expect(await row.textContent()).toContain('$0 of $0.001')
    expect(await host.chat(secret, { ...short, model: 'demo' })).toMatchObject({ status: 200 })
    await row.getByText(/^\$0\.000\d+ of \$0\.001/).waitFor({ timeout: 20_000 })
    expect(await row.getByRole('meter').getAttribute('value')).toMatch(/^0\.[1-9]/)
    await row.getByRole('button', { name: 'Disable' }).click()
    await row.getByText('disabled').waitFor()
    expect(await host.chat(secret, { ...short, model: 'demo' })).toMatchObject({ status: 401 })
  })

  test('a key is created and deleted by keyboard alone', async () => {
    const { tab, host } = await visit()
    const { press, focusOn } = keyboardOf(tab)
    await focusOn('Keys')
    await press('Enter')
    await focusOn('New key')
    await press('Enter')
    await tab.keyboard.type('by keyboard')
    await press('Enter')
    await tab.getByRole('heading', { name: 'Secret of by keyboard' }).waitFor()
    await focusOn('Done')
    await press('Enter')
    await tab.getByRole('row').filter({ hasText: 'by keyboard' }).waitFor()
    await focusOn('Delete by keyboard')
    await press('Enter')
    await tab.getByRole('heading', { name: 'Delete by keyboard?' }).waitFor()
    await press('Escape')
    await tab.locator('dialog').waitFor({ state: 'detached' })
    expect(await tab.getByRole('row').filter({ hasText: 'by keyboard' }).count()).toBe(1)
    await focusOn('Delete by keyboard')
    await press('Enter')
    await focusOn('Delete')
    await press('Enter')
    await tab.getByText('There is no key yet.').waitFor()
    expect((await host.admin('GET', '/admin/keys')).body).toEqual({ keys: [] })
  })

  test('a group is created, edited and deleted by keyboard alone', async () => {
    const { tab, host } = await visit()
    const { press, focusOn } = keyboardOf(tab)
    await focusOn('Keys')
    await press('Enter')
    await focusOn('New group')
    await press('Enter')
    await tab.keyboard.type('team')
    await press('Enter')
    await tab.getByRole('row').filter({ hasText: 'team' }).waitFor()
    await focusOn('Edit team')
    await press('Enter')
    await press('End')
    await tab.keyboard.type('crew')
    await press('Tab')
    await tab.keyboard.type('3')
    await press('Enter')
    await tab.getByRole('row').filter({ hasText: '$0 of $3.00' }).waitFor()
    await focusOn('Delete teamcrew')
    await press('Enter')
    await focusOn('Delete')
    await press('Enter')
    await tab.getByText('There is no group yet.').waitFor()
    expect((await host.admin('GET', '/admin/groups')).body).toEqual({ groups: [] })
  })

  test('a key is edited, with its present values filled in', async () => {
    const { tab, host } = await visit()
    const { id } = await host.key({
      name: 'old name',
      budget_max: 2,
      budget_period: 'week',
      rpm_limit: 9,
    })
    await tab.getByRole('link', { name: 'Keys' }).click()
    await tab.getByRole('button', { name: 'Edit old name' }).click()
    expect(await tab.getByLabel('The budget resets each').inputValue()).toBe('week')
    expect(await tab.getByLabel('Requests per minute').inputValue()).toBe('9')
    await tab.getByRole('textbox', { name: 'Name' }).fill('new name')
    await tab.getByLabel('Requests per minute').fill('')
    await tab.getByRole('button', { name: 'Save' }).click()
    await tab.getByRole('row').filter({ hasText: 'new name' }).waitFor()
    expect((await host.admin('GET', `/admin/keys/${id}`)).body).toMatchObject({
      name: 'new name',
      budget_max: 2,
      budget_period: 'week',
      rpm_limit: null,
      models: null,
    })
  })

  test('a group is created, gets a key, and is edited and deleted', async () => {
    const { tab, host } = await visit()
    await tab.getByRole('link', { name: 'Keys' }).click()
    await tab.getByRole('button', { name: 'New group' }).click()
    await tab.getByLabel('Name').fill('team')
    await tab.getByLabel('Budget in US dollars').fill('5')
    await tab.getByRole('button', { name: 'Create group' }).click()
    const row = tab.getByRole('row').filter({ hasText: '$0 of $5.00' })
    await row.waitFor()
    await tab.getByRole('button', { name: 'New key' }).click()
    await tab.getByLabel('Name').fill('member')
    await tab.locator('select[name="group_id"]').selectOption('team')
    await tab.getByRole('button', { name: 'Create key' }).click()
    await tab.getByRole('button', { name: 'Done' }).click()
    await tab.getByRole('row').filter({ hasText: 'group team' }).waitFor()
    await row.getByRole('button', { name: 'Grant to team' }).click()
    await tab.getByLabel('Amount in US dollars').fill('2.5')
    await tab.keyboard.press('Enter')
    await tab.getByText('$0 of $7.50').waitFor()
    await tab.getByRole('button', { name: 'Delete team' }).click()
    await tab.getByRole('button', { name: 'Delete', exact: true }).click()
    await tab.getByRole('alert').getByText('1 key that is not deleted').waitFor()
    await tab.getByRole('button', { name: 'Cancel' }).click()
    await tab.getByRole('button', { name: 'Delete member' }).click()
    await tab.getByRole('button', { name: 'Delete', exact: true }).click()
    await tab.getByText('There is no key yet.').waitFor()
    await tab.getByRole('button', { name: 'Edit team' }).click()
    await tab.getByLabel('Models').fill('demo*')
    await tab.getByRole('button', { name: 'Save' }).click()
    await tab.getByRole('row').filter({ hasText: 'demo*' }).waitFor()
    expect((await host.admin('GET', '/admin/groups')).body).toMatchObject({
      groups: [{ name: 'team', budget_max: 7.5, models: ['demo*'] }],
    })
    await tab.getByRole('button', { name: 'Delete team' }).click()
    await tab.getByRole('button', { name: 'Delete', exact: true }).click()
    await tab.getByText('There is no group yet.').waitFor()
    expect((await host.admin('GET', '/admin/groups')).body).toEqual({ groups: [] })
  })

  test('the spend is shown over time, and by model', async () => {
    const { tab, host } = await visit()
    const { key } = await host.key({ name: 'search service' })
    await host.chat(key, { ...short, model: 'demo' })
    await expect
      .poll(async () => JSON.stringify((await host.admin('GET', '/admin/usage')).body))
      .toContain('"requests":1')
    await tab.getByRole('link', { name: 'Spend' }).click()
    await tab
      .getByRole('img', { name: /^Spend by hour: \$0\.000\d+ in the last 24 hours$/ })
      .waitFor()
    await tab.getByLabel('of the last').selectOption('30 days')
    await tab
      .getByRole('img', { name: /^Spend by day: \$0\.000\d+ in the last 30 days$/ })
      .waitFor()
    expect(await tab.locator('.u-wrap canvas').count()).toBe(1)
    await tab.getByRole('heading', { name: 'What it is made of' }).waitFor()
    await tab
      .getByRole('row')
      .filter({ hasText: /^output/ })
      .waitFor()
    await tab.getByLabel(/^by/).selectOption('Model')
    await tab.getByRole('row').filter({ hasText: 'demo' }).waitFor()
  })

  test('a refused change says why, and the dialog stays open', async () => {
    const { tab } = await visit()
    await tab.goto(`${new URL(tab.url()).origin}/#keys`)
    await tab.getByRole('button', { name: 'New key' }).click()
    await tab.getByLabel('Name').fill('a')
    await tab.getByLabel('Budget in US dollars').fill('0.0000000001')
    await tab.getByRole('button', { name: 'Create key' }).click()
    await tab.getByRole('alert').getByText('budget_max').waitFor()
    expect(await tab.getByRole('dialog').count()).toBe(1)
  })

  test('the chat streams an answer and says who served it', async () => {
    const { tab } = await visit()
    await tab.getByRole('link', { name: 'Chat', exact: true }).click()
    await tab.getByLabel('Message').fill('What is a gateway for?')
    await tab.keyboard.press('Enter')
    await expectText(tab, 'You said: What is a gateway for?')
    await expectText(tab, /demo by demo · \d+ tokens/)
  })

  test('a message that is sent before the models are known waits for them', async () => {
    const { tab } = await visit()
    const { promise: typed, resolve: release } = deferred()
    await tab.route('**/api/v1/models', async (route) => {
      await typed
      await route.continue()
    })
    await tab.getByRole('link', { name: 'Chat', exact: true }).click()
    await tab.getByLabel('Message').fill('Am I early?')
    await tab.keyboard.press('Enter')
    await tab.getByRole('button', { name: 'Stop' }).waitFor()
    release()
    await expectText(tab, 'You said: Am I early?')
  })

  test('a message that is sent as soon as there is a box for it waits for the models', async () => {
    const { tab } = await visit()
    await tab.evaluate(`
      new MutationObserver((_, observer) => {
        const box = document.querySelector('textarea')
        if (!box) return
        observer.disconnect()
        box.value = 'Am I early?'
        box.form.requestSubmit()
      }).observe(document.body, { childList: true, subtree: true })
    `)
    await tab.getByRole('link', { name: 'Chat', exact: true }).click()
    await expectText(tab, 'You said: Am I early?')
  })

  test.each(['light', 'dark'] as const)('the page follows the %s color scheme', async (scheme) => {
    const { tab, host } = await visit({ colorScheme: scheme })
    const { key } = await host.key({ name: 'search service', budget_max: 0.001 })
    await host.chat(key, { ...short, model: 'demo' })
    await tab.getByRole('row').filter({ hasText: 'search service' }).waitFor()
    await tab.getByText('$0.000', { exact: false }).first().waitFor()
    const isDark = () =>
      tab.evaluate<boolean>(
        'Number(/\\d+/.exec(getComputedStyle(document.body).backgroundColor)?.[0]) < 128',
      )
    expect(await isDark()).toBe(scheme === 'dark')
    await tab.getByRole('button', { name: 'Theme' }).click()
    expect(await isDark()).toBe(false)
    await tab.getByRole('button', { name: 'Theme' }).click()
    expect(await isDark()).toBe(true)
    await tab.reload()
    expect(await isDark()).toBe(true)
  })

  test('when the gateway stops, the page says so, with the time of the last answer', async () => {
    const { tab, host } = await visit()
    await host.close()
    const alert = tab.getByRole('alert')
    await alert.getByText('the gateway cannot be reached').waitFor()
    expect(await alert.textContent()).toMatch(/the last answer, at \d\d:\d\d:\d\d\. Retrying/)
    expect(await tab.locator('main.stale').count()).toBe(1)
    await tab.getByRole('link', { name: 'Spend' }).click()
    await tab.getByText('The spend could not be read').waitFor()
    await tab.reload()
    await alert.getByText('There was no answer yet. Retrying').waitFor()
  })

  test('a gateway that takes too long counts as not reachable', async () => {
    const { tab } = await visit()
    await tab.route('**/api/admin/status', () => undefined)
    await tab.evaluate(`
      AbortSignal.timeout = () => AbortSignal.abort(new DOMException('late', 'TimeoutError'))
    `)
    await tab.getByRole('alert').waitFor()
    expect(await tab.getByRole('alert').textContent()).toContain('did not answer within 10 s')
  })

  test('the charts say since when they count, and the axes have each mark once', async () => {
    const { tab } = await visit()
    await tab.addInitScript(`
      window.marks = []
      const draw = CanvasRenderingContext2D.prototype.fillText
      CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
        window.marks.push(text)
        return draw.call(this, text, ...rest)
      }
    `)
    await tab.reload()
    await tab.getByText(/counted since the start at \d\d:\d\d$/).waitFor()
    await tab.locator('.u-wrap canvas').nth(1).waitFor()
    const marks = () => tab.evaluate<string[]>('[...new Set(window.marks)]')
    await expect.poll(marks).toContain('1 ms')
    const drawn = await marks()
    expect(drawn.filter((mark) => /^\d+$|ms$/.test(mark)).sort()).toEqual([
      '0',
      '0 ms',
      '1',
      '1 ms',
    ])
    const counts = await tab.evaluate<number>("window.marks.filter((mark) => mark === '1').length")
    const zeros = await tab.evaluate<number>("window.marks.filter((mark) => mark === '0').length")
    expect(counts).toBe(zeros)
  })
})

/** So that the charts have several minutes. */
const demoMs = 5 * 60_000

test.skipIf(!hasBrowser || screenshots === undefined)(
  'the screenshots of both color schemes',
  async () => {
    const demo = await startDemo()
    onTestFinished(() => demo.close())
    const { address: gateway, masterKey } = demo
    const served = await serveConsole({ gateway, masterKey, port: 0, folder: pageFolder })
    onTestFinished(() => served.close())
    await new Promise((resolve) => setTimeout(resolve, demoMs))
    for (const colorScheme of ['light', 'dark'] as const) await takeScreenshots(served, colorScheme)
    expect(existsSync(`${screenshots}/console-chat-dark.png`)).toBe(true)
  },
  demoMs + 60_000,
)

async function takeScreenshots(
  served: ServedConsole,
  colorScheme: 'light' | 'dark',
): Promise<void> {
  const viewport = { width: 1280, height: 900 }
  const context = await browser.newContext({ viewport, colorScheme })
  onTestFinished(() => context.close())
  const tab = await context.newPage()
  await tab.goto(served.link)
  const show = async (view: string) => {
    await tab.screenshot({ path: `${screenshots}/console-${view}-${colorScheme}.png` })
  }
  const requests = tab.locator('tr.request')
  await expect.poll(() => requests.count()).toBe(12)
  await show('overview')
  await goTo(tab, 'Requests')
  await expect.poll(() => requests.count()).toBe(100)
  await requests.filter({ hasText: 'demo-flaky' }).first().click()
  await show('requests')
  await goTo(tab, 'Models')
  await tab.locator('tr.opens').first().click()
  await show('models')
  await tab.getByRole('link', { name: 'Keys' }).click()
  await tab.getByRole('row').filter({ hasText: 'nightly batch' }).waitFor()
  await show('keys')
  await tab.getByRole('link', { name: 'Spend' }).click()
  await tab.getByLabel('of the last').selectOption('30 days')
  await tab.getByRole('img', { name: 'Spend by day' }).waitFor()
  await tab.getByRole('row').filter({ hasText: 'nightly batch' }).waitFor()
  await show('spend')
  await tab.getByRole('link', { name: 'Chat', exact: true }).click()
  await tab.getByLabel('Message').fill('What is a gateway for?')
  await tab.keyboard.press('Enter')
  await expectText(tab, /demo by demo · \d+ tokens/)
  await show('chat')
}
