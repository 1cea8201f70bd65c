import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { freePort } from './shipped-gateway.ts'

/** Whether Debian's `tinyproxy` is installed. */
export const hasTinyproxy: boolean = spawnSync('tinyproxy', ['-v']).error === undefined

/**
 * Runs tinyproxy, which takes no request without the credential `user:secret`. Names that end in
 * `.test` lead to another proxy, since no name server knows them. Resolves to its port.
 */
export async function tinyproxy(next: { readonly port: number }): Promise<number> {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'gateway-tinyproxy-'))
  const config = join(folder, 'tinyproxy.conf')
  writeFileSync(
    config,
    `Port ${port}
Listen 127.0.0.1
Timeout 60
LogLevel Error
LogFile "${join(folder, 'log')}"
MaxClients 100
BasicAuth user secret
Upstream http 127.0.0.1:${next.port} ".test"
`,
  )
  const child = spawn('tinyproxy', ['-d', '-c', config], { stdio: 'ignore' })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) {
      await new Promise((resolve) => child.once('exit', resolve))
    }
    rmSync(folder, { recursive: true })
  })
  await expect.poll(() => isOpen(port), { timeout: 5_000 }).toBe(true)
  return port
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
