import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/index.ts'
import { kinds } from '../../src/providers/index.ts'

const folder = new URL('../../docs/providers/', import.meta.url)

describe.each(readdirSync(folder))('%s', (file) => {
  const page = readFileSync(new URL(file, folder), 'utf8')
  const examples = [...page.matchAll(/^```toml\n([^]*?)^```$/gm)].map(([, text = '']) => text)

  test('the examples are valid configurations without warnings', async () => {
    expect(examples).not.toEqual([])
    for (const text of examples) {
      expect(await loadConfig({ text, env: {}, kinds })).toMatchObject({ ok: true, warnings: [] })
    }
  })
})

test('the table of kinds in the manual matches their capabilities and addresses', () => {
  const page = readFileSync(new URL('README.md', folder), 'utf8')
  const rows = [...page.matchAll(/^\| `(\w+)`.*/gm)].map(([row, name = '']) => {
    const [chat = '', embed = '', rerank = '', decisions = '', address = ''] = row
      .split('|')
      .slice(2)
    const served = Object.entries({ chat, embed, rerank, decisions }).filter(
      ([, cell]) => cell.trim() !== '',
    )
    return [name, { serves: served.map(([capability]) => capability), address: address.trim() }]
  })
  const facts = kinds.map(({ name, capabilities, defaultBaseUrl }) => {
    const address = defaultBaseUrl === undefined ? 'required' : 'optional'
    return [name, { serves: capabilities, address: expect.stringContaining(address) }]
  })
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(facts))
})
