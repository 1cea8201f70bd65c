import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { freePort } from './shipped-gateway.ts'

/** An installed server with its own folder and a free port. */
export interface DaemonPlace {
  readonly folder: string
  readonly port: number
}

/** True if a command is installed. */
export function isInstalled(command: string, versionOption: string): boolean {
  return spawnSync(command, [versionOption]).error === undefined
}

/**
 * Runs a server until the test ends. `prepare` writes its files and returns its arguments;
 * resolves to its port once that is open.
 */
export async function daemon(
  command: string,
  prepare: (place: DaemonPlace) => readonly string[],
): Promise<number> {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), `gateway-${command}-`))
  const args = prepare({ folder, port })
  // The home folder too, so that it does not write to the user's.
  const env = { PATH: process.env['PATH'], HOME: folder }
  const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (piece) => (said += piece))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) {
      await new Promise((resolve) => child.once('exit', resolve))
    }
    rmSync(folder, { recursive: true })
  })
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${command} has ended: ${said}`)
  })
  const open = async () => {
    await expect.poll(() => isOpen(port)).toBe(true)
  }
  await Promise.race([open(), ended])
  return port
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
