import { describe, expect, test } from 'vitest'
import { hasBrowser, listViews, openBrowser, openView, visitFilled } from './visit.ts'

/*
 * What every view of the console keeps at every width and in every scheme of colors.
 */

openBrowser()

describe.skipIf(!hasBrowser)('the layout in a browser', () => {
  // The last but one is 1280 pixels, enlarged to 200 %.
  test.each([1440, 1024, 640, 390])(
    'nothing is wider than a window of %i pixels',
    async (width) => {
      const { tab } = await visitFilled({ viewport: { width, height: 900 } })
      const overflows: string[] = []
      for (const address of listViews()) {
        await openView(tab, address)
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
