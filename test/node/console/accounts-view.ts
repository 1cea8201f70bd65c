import type { Locator, Page } from 'playwright-core'

/** Opens the view of keys, or what a query chooses in it. */
export async function openKeys(tab: Page, query = ''): Promise<void> {
  await tab.goto(`${new URL(tab.url()).origin}/#keys${query}`)
  await tab.getByRole('navigation', { name: 'Accounts' }).waitFor()
}

export function rowOf(tab: Page, name: string): Locator {
  return tab.getByRole('row').filter({ hasText: name })
}

/** Chooses an action of a row's menu. */
export async function act(tab: Page, name: string, action: string): Promise<void> {
  await tab.getByRole('button', { name: `Actions for ${name}` }).click()
  await rowOf(tab, name).getByText(action, { exact: true }).click()
}
