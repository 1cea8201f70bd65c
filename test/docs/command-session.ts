import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { built, command } from '../node/support/command.ts'
import { hostAt, masterKey } from '../node/support/keyed-host.ts'
import { freePort } from '../node/support/shipped-gateway.ts'
import type { Shell } from './shell.ts'

/** A shell in which `gateway` is the built command, and a gateway with auth runs on its configuration. */
export interface CommandSession extends Omit<Shell, 'replace'> {
  /** The path of the built command. */
  readonly executable: string
  readonly host: ReturnType<typeof hostAt>
}

/** Serves the demo with auth on until the test ends. */
export async function openCommandSession(): Promise<CommandSession> {
  const { executable } = built
  const cwd = mkdtempSync(join(tmpdir(), 'gateway-docs-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  const port = String(await freePort())
  const config = `[server]\nport = ${port}\n${readFileSync('demo.toml', 'utf8')}`
  writeFileSync(join(cwd, 'config.toml'), `${config}\n[auth]\nenabled = true\n`)
  const env = { GATEWAY_MASTER_KEY: masterKey, GATEWAY_AUTH__DB_PATH: join(cwd, 'gateway.db') }
  const gateway = command([executable, '-c', join(cwd, 'config.toml')], { env })
  const [, address = ''] = await gateway.until(/(http:\/\/127\.0\.0\.1:\d+)/)
  const folder = join(cwd, 'bin')
  mkdirSync(folder)
  writeFileSync(join(folder, 'gateway'), `#!/bin/sh\nexec ${process.execPath} ${executable} "$@"\n`)
  chmodSync(join(folder, 'gateway'), 0o755)
  const path = `${folder}:${process.env['PATH']}`
  return { executable, cwd, address, env: { ...env, PATH: path }, host: hostAt(address) }
}
