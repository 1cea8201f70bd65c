import { describe, expect, onTestFinished, test } from 'vitest'
import { httpServer } from '../support/servers.ts'
import { openWorld } from './served.ts'
import { browser, configFor, expectText, hasBrowser, openBrowser, short, visit } from './visit.ts'

/*
 * The console in a real browser: its session, its overview, its colors, and a gateway that does not answer.
 */

openBrowser()

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
