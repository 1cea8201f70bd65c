import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { hasBrowser, listViews, openBrowser, openView, visitFilled } from './visit.ts'

/*
 * The rules of axe-core about accessibility, in every view and both color schemes.
 */

openBrowser()

const script = findScript()
if (script === undefined) {
  console.warn('SKIPPED: axe-core is not installed, so its rules are not tried; run npm ci')
}

describe.skipIf(!hasBrowser || script === undefined)('the accessibility of the views', () => {
  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
  ] as const)('axe finds nothing in the %s scheme at %i pixels', async (colorScheme, width) => {
    const viewport = { width, height: 900 }
    // The page runs no script but its own.
    const { tab } = await visitFilled({ colorScheme, viewport, bypassCSP: true })
    const violations: string[] = []
    const check = async (name: string) => {
      await tab.evaluate(readFileSync(String(script), 'utf8'))
      const found = await tab.evaluate<string[]>(`
        axe.run(document).then(({ violations }) =>
          violations.map(({ id, nodes }) => id + ' at ' + nodes[0].html.slice(0, 200)))
      `)
      violations.push(...found.map((rule) => `${name}: ${rule}`))
    }
    for (const view of listViews()) {
      await openView(tab, view)
      await check(view)
    }
    await openView(tab, 'requests')
    await tab.locator('tr.request').first().click()
    await check('an opened request')
    await openView(tab, 'models')
    await tab.locator('tr.opens').first().click()
    await check('an opened model')
    await openView(tab, 'keys')
    await tab.getByRole('button', { name: /^Actions for/ }).click()
    await check('the menu of a key')
    await tab.keyboard.press('Escape')
    await tab.getByRole('button', { name: 'New key' }).click()
    await check('the form of a new key')
    await openView(tab, 'chat')
    await sayAndFail(tab)
    await check('a chat with a failed turn')
    expect(violations).toEqual([])
  })
})

async function sayAndFail(tab: Page): Promise<void> {
  const say = async (text: string) => {
    await tab.getByLabel('Message').fill(text)
    await tab.keyboard.press('Enter')
  }
  await say('# Title\n\n```\ncode\n```')
  await tab.locator('.outcome').waitFor()
  await tab.getByLabel('with').selectOption('pooled')
  await say('Fail')
  await tab.locator('.failed').waitFor()
}

function findScript(): string | undefined {
  const require = createRequire(import.meta.url)
  try {
    return require.resolve('axe-core/axe.min.js')
  } catch {
    return undefined
  }
}
