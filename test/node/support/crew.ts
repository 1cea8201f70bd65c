import { readFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { built, type Command, command } from './command.ts'
import { configFolder, freePort } from './shipped-gateway.ts'

/** The shipped executable with several workers. */
export interface Crew extends Command {
  readonly address: string
  /** The path of the configuration file. */
  readonly path: string
  /** The lines of the log. */
  lines(message: string): readonly Record<string, unknown>[]
  /** The ids of the processes of the workers. */
  pids(): readonly number[]
}

export async function crew(
  config: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Crew> {
  const { path } = configFolder(config)
  const port = String(await freePort())
  const started = command([built.executable, '--config', path], {
    env: { GATEWAY_SERVER__PORT: port, ...env },
  })
  const pids = () => childrenOf(started.process.pid)
  // A test that fails must not leave workers behind.
  const kill = (pid: number) => {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
  let last: readonly number[] = []
  onTestFinished(() => last.forEach(kill))
  const [, address = ''] = await started.until(/"address":"([^"]+)"/)
  last = pids()
  return {
    ...started,
    address,
    path,
    pids,
    lines: (message) =>
      started.output.stdout
        .split('\n')
        .filter((line) => line.includes(`"msg":"${message}"`))
        .map((line) => JSON.parse(line)),
  }
}

function childrenOf(pid: number | undefined): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.split(' ').filter(Boolean).map(Number)
}

export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** Sends a request on a new connection. */
export function ask(address: string, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(address + path, { ...init, headers: { connection: 'close', ...init.headers } })
}
