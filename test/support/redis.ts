import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'

const executable = '/usr/bin/redis-server'

/** False when the tests with a Redis server must be skipped. */
export const hasRedis = existsSync(executable)
if (!hasRedis) {
  console.warn(`SKIPPED: ${executable} is not installed, so the shared state is not tried on it`)
}

/** Servers end with this process. */
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** A Redis server without persistence, on a free port of 127.0.0.1. */
export interface RedisServer {
  readonly port: number
  readonly url: string
  /** Runs a command, and returns its output. */
  command(...args: readonly string[]): string
  /** Suspends the server: it keeps its connections, and answers nothing. */
  pause(): void
  resume(): void
  /** Ends the server, with the loss of all its data. */
  stop(): Promise<void>
  /** Starts it again on the same port, empty. */
  start(): Promise<void>
}

/** Starts a server. End it with `stop`. */
export async function startRedis(...options: readonly string[]): Promise<RedisServer> {
  const port = await findFreePort()
  let child: ChildProcess | undefined
  const server: RedisServer = {
    port,
    url: `redis://127.0.0.1:${port}`,
    command: (...args) =>
      execFileSync('redis-cli', ['-p', String(port), ...args], { encoding: 'utf8' }).trim(),
    pause: () => child?.kill('SIGSTOP'),
    resume: () => child?.kill('SIGCONT'),
    async stop() {
      const ended = new Promise((resolve) => child?.once('exit', resolve))
      child?.kill('SIGKILL')
      await ended
    },
    async start() {
      const started = spawn(
        executable,
        ['--port', String(port), '--save', '', '--appendonly', 'no', ...options],
        { cwd: tmpdir(), stdio: ['ignore', 'pipe', 'inherit'] },
      )
      child = started
      running.add(started)
      started.once('exit', () => running.delete(started))
      await waitUntilReady(started)
    },
  }
  await server.start()
  return server
}

function waitUntilReady({ stdout }: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = ''
    stdout?.setEncoding('utf8')
    stdout?.on('data', (text: string) => {
      output += text
      if (output.includes('eady to accept connections')) resolve()
    })
    stdout?.on('end', () => reject(new Error(`redis-server has ended: ${output}`)))
  })
}

export function findFreePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
