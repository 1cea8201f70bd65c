import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { hasBrowser, openBrowser, short, visit } from './visit.ts'

/*
 * What every view of the console keeps at every width and in every scheme of colors.
 */

openBrowser()

const addresses = [
  'overview',
  'requests',
  'models',
  'models?tab=routes',
  'models?tab=settings&defaults=true',
  'spend',
  'keys',
  'audit',
  'chat',
]

const long = 'nightly evaluation of the retrieval pipeline in staging (ask the platform team first)'

/** A page with names that are as long as teams make them. */
async function visitFilled(options: Parameters<typeof visit>[0] = {}) {
  const world = await visit(options)
  const { host } = world
  const group = await host.admin('POST', '/admin/groups', { name: long, budget_max: 5 })
  const { key } = await host.key({ name: long, group_id: group.body['id'], budget_max: 0.01 })
  await host.chat(key, { ...short, model: 'm' })
  await host.chat(key, { ...short, model: `${long} model` })
  return world
}

async function open(tab: Page, address: string): Promise<void> {
  await tab.goto(`${new URL(tab.url()).origin}/#${address}`)
  await tab.locator('main :is(h2, h3)').first().waitFor()
}

describe.skipIf(!hasBrowser)('the layout in a browser', () => {
  // The last but one is 1280 pixels, enlarged to 200 %.
  test.each([1440, 1024, 640, 390])(
    'nothing is wider than a window of %i pixels',
    async (width) => {
      const { tab } = await visitFilled({ viewport: { width, height: 900 } })
      const overflows: string[] = []
      for (const address of addresses) {
        await open(tab, address)
        const surplus = await tab.evaluate<number>(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        )
        if (surplus > 0) overflows.push(`${address}: ${surplus} px`)
      }
      expect(overflows).toEqual([])
    },
  )

  test('without colors of their own, states and series differ by shape', async () => {
    const { tab } = await visitFilled({ forcedColors: 'active' })
    await tab.locator('.request .dot.warn').first().waitFor()
    const looks = (selector: string) =>
      tab.evaluate<string[]>(`
        [...document.querySelectorAll('${selector}')].map((mark) => {
          const style = getComputedStyle(mark)
          return [style.backgroundImage, style.clipPath, style.borderRadius].join()
        })
      `)
    const legend = await looks('.bars .swatch')
    expect(new Set(legend).size).toBe(3)
    const marks = await Promise.all(
      ['good', 'warn', 'bad'].map(async (color) => (await looks(`.dot.${color}`))[0]),
    )
    expect(marks).not.toContain(undefined)
    expect(new Set(marks).size).toBe(3)
    const color = await tab.evaluate(
      "getComputedStyle(document.querySelector('.dot.good')).backgroundColor",
    )
    expect(color).not.toBe('rgba(0, 0, 0, 0)')
  })
})
