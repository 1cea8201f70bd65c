import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { command, finished } from '../node/support/command.ts'
import { openCommandSession } from './command-session.ts'
import { session } from './shell.ts'

const page = 'docs/command-line.md'

test('every example of the page runs, and every command is on the page', async () => {
  const { executable, host, ...shell } = await openCommandSession()
  const { id } = await host.key({ budget_max: 5 })
  const outputs = await session(page, { ...shell, replace: { '5f0c3a7e': id.slice(0, 12) } })
  expect(outputs.join('\n')).toMatch(/sk-gw-[0-9a-f]{64}/)
  expect(readFileSync(join(shell.cwd, 'november.csv'), 'utf8')).toMatch(/^model,name,/)
  const { stdout } = await finished(command([executable, '--help']))
  const names = [...stdout.matchAll(/^ {2}([a-z][a-z-]+)/gm)].map(([, name]) => name)
  const text = readFileSync(page, 'utf8')
  expect(names.length).toBeGreaterThan(4)
  for (const name of names) expect(text).toMatch(new RegExp(`\\b${name}\\b`))
}, 300_000)
