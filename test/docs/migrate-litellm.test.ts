import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse as parseToml } from 'smol-toml'
import { expect, onTestFinished, test } from 'vitest'
import { checkConfig } from '../../src/index.ts'
import { runCommand } from '../node/support/cli.ts'
import { openCommandSession } from './command-session.ts'
import { blocksOf, session } from './shell.ts'

const page = 'docs/migrate-litellm.md'

/** Returns the first block of a language. */
function blockOf(language: string): string {
  const block = blocksOf(page).find(({ info }) => info === language)
  if (!block) throw new Error(`${page} has no ${language}`)
  return block.text
}

test('the command makes the configuration of the page from its file, and leaves nothing out', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-docs-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'config.yaml')
  writeFileSync(file, blockOf('yaml'))
  const { stdout, stderr } = await runCommand('import', 'litellm', file)
  expect(stderr).not.toContain('not converted:')
  expect(stderr).toMatch(/^next:\nauth is on, as in the proxy: .*\n2 models have no prices: .*\n$/)
  expect(stdout).toBe(blockOf('toml'))
  expect(parseToml(stdout)).toBeTypeOf('object')
  const verdict = await checkConfig(stdout, {})
  expect(verdict.ok ? [] : verdict.problems).toEqual([])
})

test('the shell examples make a group and its keys, and list the models for one of them', async () => {
  const { host, executable: _, env, ...shell } = await openCommandSession()
  const { key } = await host.key({})
  const [created, models] = await session(page, { ...shell, env: { ...env, KEY: key } })
  expect(created?.trim().split('\n')).toEqual([
    expect.stringMatching(/^notebooks sk-gw-[0-9a-f]{64}$/),
    expect.stringMatching(/^nightly evaluation sk-gw-[0-9a-f]{64}$/),
  ])
  expect(models).toContain('"id":"demo"')
  const { groups } = (await host.admin('GET', '/admin/groups')).body as { groups: unknown[] }
  expect(groups).toEqual([expect.objectContaining({ name: 'research', budget_max: 500 })])
}, 300_000)
