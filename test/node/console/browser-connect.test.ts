import { describe, expect, test } from 'vitest'
import { clients } from '../../../adapters/node/console/page/clients.ts'
import { blocksOf } from '../../docs/shell.ts'
import { hasBrowser, openBrowser, visit } from './visit.ts'

/* The page that sets up clients, in a browser. */

openBrowser()

describe.skipIf(!hasBrowser)('the page Connect in a browser', () => {
  test('each client has the lines of the documentation, with the address of this gateway', async () => {
    const { tab, host } = await visit()
    await tab.getByRole('link', { name: 'Connect', exact: true }).click()
    const listed = tab.getByRole('navigation', { name: 'Clients' }).getByRole('link')
    expect(await listed.allInnerTexts()).toEqual(clients.map(({ name }) => name))
    const documented = blocksOf('docs/clients.md').map(({ text }) => text.trimEnd())
    const shown: string[] = []
    for (const { name, parts } of clients) {
      await tab.getByRole('link', { name, exact: true }).click()
      await tab.getByRole('heading', { name }).waitFor()
      const blocks = tab.locator('.steps pre')
      const count = parts.filter((part) => typeof part !== 'string').length
      await expect.poll(() => blocks.count()).toBe(count)
      shown.push(...(await blocks.allTextContents()))
    }
    expect(shown.length).toBeGreaterThan(10)
    const docker = host.address.replace('127.0.0.1', 'host.docker.internal')
    for (const text of shown) {
      const general = text
        .replaceAll(host.address, 'http://127.0.0.1:8080')
        .replaceAll(docker, 'http://host.docker.internal:8080')
      expect(documented).toContain(general)
    }
  })

  test('the address and the model can be changed, and the block is copied', async () => {
    const { tab } = await visit()
    await tab.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await tab.goto(`${new URL(tab.url()).origin}/#connect?client=claude-code`)
    await tab.getByLabel('Address').fill('https://llm.example.org/')
    await tab.getByLabel('Model').selectOption('pooled')
    await tab.locator('pre').getByText('claude --model pooled').waitFor()
    await tab.getByRole('button', { name: 'Copy the code' }).click()
    await tab.getByText('Copied').waitFor()
    expect(await tab.evaluate('navigator.clipboard.readText()')).toBe(
      [
        'export ANTHROPIC_BASE_URL=https://llm.example.org',
        'export ANTHROPIC_AUTH_TOKEN="$GATEWAY_KEY"',
        'claude --model pooled',
      ].join('\n'),
    )
    expect(new URL(tab.url()).hash).toBe('#connect?client=claude-code&model=pooled')
  })
})
