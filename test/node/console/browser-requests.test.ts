import { describe, expect, test } from 'vitest'
import { goTo, hasBrowser, openBrowser, short, visit } from './visit.ts'

/*
 * The view of the requests in a real browser.
 */

openBrowser()

/** Opens the view after a request that was served, one that was refused, and one whose stream broke. */
async function visitRequests() {
  const world = await visit()
  const { tab, host } = world
  const { key, id } = await host.key({ name: 'search service' })
  const other = await host.key({ name: 'a key with a name that is too long for its column' })
  await host.chat(key, { ...short, model: 'demo' })
  await host.chat(other.key, { ...short, model: 'absent' })
  await host.chat(other.key, { ...short, model: 'cut', stream: true })
  await goTo(tab, 'Requests')
  const rows = tab.locator('tr.request')
  await expect.poll(() => rows.count()).toBe(3)
  return { ...world, rows, key, id }
}

describe.skipIf(!hasBrowser)('the requests in a browser', () => {
  test('are narrowed by a text, a status, a model and a key, which the address names', async () => {
    const { tab, rows, id } = await visitRequests()
    await tab.getByRole('searchbox').fill('lm-2001')
    await expect.poll(() => rows.count()).toBe(1)
    expect(await rows.textContent()).toContain('404 LM-2001')
    expect(tab.url()).toContain('#requests?q=lm-2001')
    await tab.getByRole('link', { name: 'Clear' }).click()
    await expect.poll(() => rows.count()).toBe(3)
    await tab.getByLabel(/^Status/).selectOption('Failed')
    await expect.poll(() => rows.count()).toBe(2)
    await tab.getByLabel(/^Status/).selectOption('Server errors (5xx)')
    await expect.poll(() => rows.count()).toBe(1)
    await tab.goBack()
    await expect.poll(() => rows.count()).toBe(2)
    await tab.getByLabel(/^Status/).selectOption('All')
    await tab.getByLabel(/^Model/).selectOption('cut')
    await expect.poll(() => rows.count()).toBe(1)
    await tab.getByLabel(/^Model/).selectOption('All')
    await tab.getByLabel(/^Key/).selectOption('search service')
    await expect.poll(() => rows.count()).toBe(1)
    expect(tab.url()).toContain(`key=${id}`)
    await tab.reload()
    await expect.poll(() => rows.count()).toBe(1)
    // The page reads the names of keys after the requests.
    await expect.poll(() => rows.textContent()).toContain('search service')
  })

  test('of one key are followed live', async () => {
    const { tab, host, rows, key, id } = await visitRequests()
    await tab.goto(`${new URL(tab.url()).origin}/#requests?key=${id}`)
    await expect.poll(() => rows.count()).toBe(1)
    await host.chat(key, { ...short, model: 'demo' })
    await expect.poll(() => rows.count()).toBe(2)
  })

  test('open by a click on the whole row, and show their facts and links to the like', async () => {
    const { tab, rows } = await visitRequests()
    await rows.filter({ hasText: 'cut' }).locator('td.cost').click()
    const details = tab.locator('.details')
    expect(await details.getByText('answered with LM-3010').count()).toBe(1)
    expect(await details.getByText('served').count()).toBe(0)
    await tab.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await details.getByRole('button', { name: 'Copy' }).click()
    await details.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await tab.evaluate<string>('navigator.clipboard.readText()')
    expect(copied).toBe(await details.locator('.id code').textContent())
    await details.getByRole('link', { name: 'All requests for this model' }).click()
    await expect.poll(() => rows.count()).toBe(1)
  })

  test('keep their place while one is open, and say how many came meanwhile', async () => {
    const { tab, host, rows, key } = await visitRequests()
    await rows.last().click()
    await tab.locator('.details').waitFor()
    const place = () => tab.locator('.details').boundingBox()
    const before = await place()
    await host.chat(key, { ...short, model: 'demo' })
    const more = tab.getByRole('button', { name: 'Show 1 new' })
    await more.waitFor()
    expect(await rows.count()).toBe(3)
    await more.click()
    await expect.poll(() => rows.count()).toBe(4)
    expect((await place())?.y).toBeGreaterThan(before?.y ?? 0)
    await rows.last().click()
    await host.chat(key, { ...short, model: 'demo' })
    await expect.poll(() => rows.count()).toBe(5)
  })

  test('are read page by page, and one of them is found by its id', async () => {
    const { tab, host, rows, key } = await visitRequests()
    const body = { ...short, model: 'demo' }
    await Promise.all(Array.from({ length: 100 }, () => host.chat(key, body)))
    await expect.poll(() => rows.count()).toBe(103)
    await tab.reload()
    await expect.poll(() => rows.count()).toBe(100)
    await tab.getByText('the newest 100 requests').waitFor()
    await tab.getByRole('button', { name: 'Show older ones' }).click()
    await expect.poll(() => rows.count()).toBe(103)
    await rows.last().click()
    const id = (await tab.locator('.details .id code').textContent()) ?? ''
    await tab.getByRole('searchbox').fill('of no row')
    await tab.getByText('0 among 103 requests').waitFor()
    await tab.getByRole('link', { name: 'Look for a request with this id' }).click()
    await tab.getByText('No such request').waitFor()
    await tab.goto(`${new URL(tab.url()).origin}/#requests?id=${id}`)
    await expect.poll(() => rows.count()).toBe(1)
    await tab.getByRole('link', { name: 'show all' }).click()
    await expect.poll(() => rows.count()).toBe(100)
  })

  test('cut long names off, with the whole name as their title', async () => {
    const { rows } = await visitRequests()
    const cell = rows.filter({ hasText: 'LM-2001' }).locator('td.key')
    await expect.poll(() => cell.getAttribute('title')).toContain('too long for its column')
    const boxes = await Promise.all((await rows.all()).map((row) => row.boundingBox()))
    expect(new Set(boxes.map((box) => box?.height)).size).toBe(1)
  })
})
