import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { buildPackage, command, finished } from '../node/support/command.ts'
import { hostAt, masterKey } from '../node/support/keyed-host.ts'
import { freePort } from '../node/support/shipped-gateway.ts'
import { session } from './shell.ts'

const page = 'docs/command-line.md'

test('every example of the page runs, and every command is on the page', async () => {
  const built = await buildPackage()
  onTestFinished(() => built.remove())
  const cwd = mkdtempSync(join(tmpdir(), 'gateway-docs-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  const port = String(await freePort())
  const config = readFileSync('demo.toml', 'utf8').replace('port = 8080', `port = ${port}`)
  writeFileSync(join(cwd, 'config.toml'), `${config}\n[auth]\nenabled = true\n`)
  const env = { GATEWAY_MASTER_KEY: masterKey, GATEWAY_AUTH__DB_PATH: join(cwd, 'gateway.db') }
  const gateway = command([built.executable, '-c', join(cwd, 'config.toml')], { env })
  const [, address = ''] = await gateway.until(/(http:\/\/127\.0\.0\.1:\d+)/)
  const { id } = await hostAt(address).key({ budget_max: 5 })
  const folder = join(cwd, 'bin')
  mkdirSync(folder)
  const shim = `#!/bin/sh\nexec ${process.execPath} ${built.executable} "$@"\n`
  writeFileSync(join(folder, 'gateway'), shim)
  chmodSync(join(folder, 'gateway'), 0o755)
  const outputs = await session(page, {
    cwd,
    env: { ...env, PATH: `${folder}:${process.env['PATH']}` },
    address,
    replace: { '5f0c3a7e': id.slice(0, 12) },
  })
  expect(outputs.join('\n')).toMatch(/sk-gw-[0-9a-f]{64}/)
  expect(readFileSync(join(cwd, 'november.csv'), 'utf8')).toMatch(/^model,name,/)
  const { stdout } = await finished(command([built.executable, '--help']))
  const names = [...stdout.matchAll(/^ {2}([a-z][a-z-]+)/gm)].map(([, name]) => name)
  const text = readFileSync(page, 'utf8')
  expect(names.length).toBeGreaterThan(4)
  for (const name of names) expect(text).toMatch(new RegExp(`\\b${name}\\b`))
}, 300_000)
