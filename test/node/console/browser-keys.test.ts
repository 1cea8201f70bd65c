import { describe, expect, test } from 'vitest'
import { act, openKeys, rowOf } from './accounts-view.ts'
import { hasBrowser, openBrowser, short, type Visit, visit } from './visit.ts'

/* A long list of keys in a browser, and what it says of a key. */

openBrowser()

/** A console with 60 keys: every third is in a group, and every tenth is disabled. */
async function visitTeam(): Promise<Visit> {
  const world = await visit()
  const { host } = world
  const { body } = await host.admin('POST', '/admin/groups', { name: 'search team' })
  for (let at = 0; at < 60; at++) {
    const group = at % 3 === 0 ? { group_id: body['id'] } : {}
    const { id } = await host.key({ name: `service-${at}`, ...group })
    if (at % 10 === 0) await host.admin('PATCH', `/admin/keys/${id}`, { disabled: true })
  }
  return world
}

describe.skipIf(!hasBrowser)('the keys in a browser', () => {
  test('many keys have pages, a search and filters, which the address keeps', async () => {
    const { tab } = await visitTeam()
    await openKeys(tab)
    await tab.getByText('1 to 50 of 60').waitFor()
    expect(await tab.locator('tbody tr').count()).toBe(50)
    await tab.getByRole('button', { name: 'Next' }).click()
    await tab.getByText('51 to 60 of 60').waitFor()
    await tab.reload()
    await tab.getByText('51 to 60 of 60').waitFor()
    await tab.goBack()
    await tab.getByText('1 to 50 of 60').waitFor()
    await tab.getByLabel('State').selectOption('Disabled')
    await expect.poll(() => tab.locator('tbody tr').count()).toBe(6)
    await tab.getByLabel('Group').selectOption('search team')
    await expect.poll(() => tab.locator('tbody tr').count()).toBe(2)
    await tab.getByRole('searchbox').fill('SERVICE-3')
    await expect.poll(() => tab.locator('tbody th').allInnerTexts()).toHaveLength(1)
    await tab.reload()
    await rowOf(tab, 'service-30').waitFor()
    expect(await tab.getByRole('searchbox').inputValue()).toBe('SERVICE-3')
    expect(await tab.locator('tbody tr').count()).toBe(1)
    await tab.getByRole('searchbox').fill('nothing')
    await tab.getByText('No key matches.').waitFor()
  })

  test('a column sorts, and says in which direction', async () => {
    const { tab, host } = await visit()
    for (const name of ['b', 'a', 'c']) await host.key({ name })
    await openKeys(tab)
    const names = () => tab.locator('tbody th .cut').allInnerTexts()
    const column = tab.getByRole('columnheader', { name: 'Name' })
    await column.getByRole('button').click()
    await expect.poll(names).toEqual(['a', 'b', 'c'])
    expect(await column.getAttribute('aria-sort')).toBe('ascending')
    await column.getByRole('button').click()
    await expect.poll(names).toEqual(['c', 'b', 'a'])
    expect(await column.getAttribute('aria-sort')).toBe('descending')
  })

  test('a new key may expire, and a model that does not exist is named', async () => {
    const { tab, host } = await visit()
    await openKeys(tab)
    await tab.getByRole('button', { name: 'New key' }).click()
    await tab.getByLabel('Name').fill('for a month')
    await tab.getByLabel('Expires').fill('2030-01-31T12:00:07')
    await tab.getByLabel('Models').fill('demo, gpt-nine, dem*, x*')
    await tab.getByText('No model or route is called gpt-nine, x*.').waitFor()
    await tab.getByRole('button', { name: 'Create key' }).click()
    await tab.getByRole('button', { name: 'Done' }).click()
    await rowOf(tab, 'for a month').getByText('until 31 Jan 2030').waitFor()
    const expires = await tab.evaluate<number>("new Date('2030-01-31T12:00:07').getTime() / 1000")
    expect((await host.admin('GET', '/admin/keys')).body).toMatchObject({
      keys: [{ expires_at: expires, models: ['demo', 'gpt-nine', 'dem*', 'x*'] }],
    })
    await tab.getByRole('button', { name: 'Edit for a month' }).click()
    await tab.getByLabel('Requests per minute').fill('5')
    await tab.getByRole('button', { name: 'Save' }).click()
    await rowOf(tab, '5 requests/min').waitFor()
    expect((await host.admin('GET', '/admin/keys')).body).toMatchObject({
      keys: [{ expires_at: expires, rpm_limit: 5 }],
    })
  })

  test('a time of expiry that has passed is not accepted', async () => {
    const { tab, host } = await visit()
    await openKeys(tab)
    await tab.getByRole('button', { name: 'New key' }).click()
    await tab.getByLabel('Name').fill('late')
    await tab.getByLabel('Expires').fill('2020-01-01T00:00:00')
    await tab.getByRole('button', { name: 'Create key' }).click()
    expect(await tab.locator('[name="expires_at"]:invalid').count()).toBe(1)
    const { keys } = (await host.admin('GET', '/admin/keys')).body as { keys: { name: string }[] }
    expect(keys.filter(({ name }) => name === 'late')).toEqual([])
  })

  test('a disabled key is enabled again by Undo', async () => {
    const { tab, host } = await visit()
    const { id } = await host.key({ name: 'nightly batch' })
    const isDisabled = async () => (await host.admin('GET', `/admin/keys/${id}`)).body['disabled']
    await openKeys(tab)
    await act(tab, 'nightly batch', 'Disable')
    const notice = tab.getByRole('status').filter({ hasText: 'nightly batch is disabled' })
    await notice.waitFor()
    expect(await isDisabled()).toBe(true)
    await notice.getByRole('button', { name: 'Undo' }).click()
    await rowOf(tab, 'nightly batch').getByText('active').waitFor()
    expect(await isDisabled()).toBe(false)
  })

  test('a key whose budget is spent says so, and when it was last used', async () => {
    const { tab, host } = await visit()
    const { key } = await host.key({ name: 'spent', budget_max: 0.0003 })
    await host.key({ name: 'unused', tpm_limit: 1_250_000 })
    await host.chat(key, { ...short, model: 'demo' })
    expect(await host.chat(key, { ...short, model: 'demo' })).toMatchObject({ status: 402 })
    await openKeys(tab)
    await rowOf(tab, 'spent').getByText('over budget').waitFor()
    await rowOf(tab, 'spent')
      .getByText(/^(now|\d+ s ago)$/)
      .waitFor()
    expect(await rowOf(tab, 'unused').innerText()).toContain('1,250,000 tokens/min')
    expect(
      await rowOf(tab, 'unused')
        .getByTitle(/^no request in the last/)
        .count(),
    ).toBe(1)
  })

  test('an id is copied whole, and a key leads to its requests and its spend', async () => {
    const { tab, host } = await visit()
    const { id } = await host.key({ name: 'search service' })
    await tab.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await openKeys(tab)
    await tab.getByRole('button', { name: 'copy the id of search service' }).click()
    await tab.getByText('Id of search service copied').waitFor()
    expect(await tab.evaluate('navigator.clipboard.readText()')).toBe(id)
    await act(tab, 'search service', 'Requests')
    expect(new URL(tab.url()).hash).toBe(`#requests?key=${id}`)
    await tab.goBack()
    await act(tab, 'search service', 'Spend')
    expect(new URL(tab.url()).hash).toBe(`#spend?key=${id}&by=model`)
  })

  test('the key of the chat is not among the keys of the team', async () => {
    const { tab, host } = await visit()
    await host.key({ name: 'search service' })
    await tab.getByRole('link', { name: 'Chat', exact: true }).click()
    await expect
      .poll(async () => JSON.stringify((await host.admin('GET', '/admin/keys')).body))
      .toContain('"console"')
    await openKeys(tab)
    await rowOf(tab, 'search service').waitFor()
    await tab.getByRole('link', { name: 'Keys 1' }).waitFor()
    expect(await tab.locator('tbody tr').count()).toBe(1)
    await openKeys(tab, '?state=console')
    await rowOf(tab, 'of the console').waitFor()
  })

  test('the button that deletes is red, and a long name of a group stays in the dialog', async () => {
    const { tab, host } = await visit({ viewport: { width: 390, height: 844 } })
    const name = 'Customer Experience & Platform Engineering EMEA (nightly evaluation pipelines)'
    await host.admin('POST', '/admin/groups', { name })
    await host.key({ name: 'a' })
    await openKeys(tab)
    await rowOf(tab, 'active').waitFor()
    await act(tab, 'a', 'Delete…')
    const color = (selector: string) =>
      tab.evaluate(`getComputedStyle(document.querySelector('${selector}')).backgroundColor`)
    expect(await color('dialog [type="submit"]')).toBe('rgb(220, 38, 38)')
    await tab.getByRole('button', { name: 'Cancel' }).click()
    await tab.getByRole('button', { name: 'New key' }).click()
    const surplus =
      'document.querySelector("dialog").scrollWidth - document.querySelector("dialog").clientWidth'
    expect(await tab.evaluate(surplus)).toBe(0)
  })
})
