import { existsSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { startDemo } from '../../../adapters/node/console/demo.ts'
import { type ServedConsole, serveConsole } from '../../../adapters/node/console/server.ts'
import { pageFolder } from './served.ts'
import { browser, goTo, hasBrowser, openBrowser } from './visit.ts'

/*
 * The pictures of the documentation: `CONSOLE_SCREENSHOTS=docs/images npx vitest run --project slow
 * test/node/console/browser-pictures.test.ts`.
 */

const screenshots = process.env['CONSOLE_SCREENSHOTS']

openBrowser()

test.skipIf(!hasBrowser || screenshots === undefined)(
  'the screenshots of both color schemes',
  async () => {
    const demo = await startDemo()
    onTestFinished(() => demo.close())
    const { address: gateway, masterKey } = demo
    const served = await serveConsole({ gateway, masterKey, port: 0, folder: pageFolder })
    onTestFinished(() => served.close())
    for (const colorScheme of ['light', 'dark'] as const) await takeScreenshots(served, colorScheme)
    expect(existsSync(`${screenshots}/console-connect-dark.png`)).toBe(true)
  },
  120_000,
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
  await goTo(tab, 'Keys')
  await tab.getByRole('row').filter({ hasText: 'nightly batch' }).waitFor()
  await show('keys')
  await goTo(tab, 'Spend')
  await tab.getByLabel('Time').selectOption('Last 30 days')
  await tab.getByRole('img', { name: 'Spend by day' }).waitFor()
  await tab.getByRole('row').filter({ hasText: 'nightly batch' }).waitFor()
  await show('spend')
  await goTo(tab, 'Chat')
  await tab.getByLabel('Message').fill('What is a gateway for?')
  await tab.keyboard.press('Enter')
  await tab
    .locator('.outcome')
    .getByText(/complete$/)
    .waitFor()
  await tab.locator('.outcome').getByText('$').waitFor()
  await show('chat')
  await goTo(tab, 'Connect')
  await tab.getByRole('link', { name: 'Claude Code', exact: true }).click()
  await tab.locator('pre').getByText('ANTHROPIC_BASE_URL').waitFor()
  await show('connect')
}
