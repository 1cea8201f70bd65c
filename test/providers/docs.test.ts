import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/index.ts'
import { kinds } from '../../src/providers/index.ts'

const folder = new URL('../../docs/providers/', import.meta.url)

describe.each(readdirSync(folder))('%s', (file) => {
  const page = readFileSync(new URL(file, folder), 'utf8')
  const examples = [...page.matchAll(/^```toml\n([^]*?)^```$/gm)].map(([, text = '']) => text)

  test('has examples, each of them a valid file that nothing is warned about', async () => {
    expect(examples).not.toEqual([])
    for (const text of examples) {
      expect(await loadConfig({ text, env: {}, kinds })).toMatchObject({ ok: true, warnings: [] })
    }
  })
})
