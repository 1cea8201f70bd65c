import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { get } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const repository = fileURLToPath(new URL('..', import.meta.url))

const running = new Set<ChildProcess>()

/** A program that runs scripts as Node does, and its first arguments. */
export type Runtime = readonly [program: string, ...args: string[]]

/** The version of Node that runs this script. */
export const presentNode: Runtime = [process.execPath]

/** Starts Node with these arguments. The process always ends with this one. */
export function startNode(
  args: readonly string[],
  options: SpawnOptions = {},
  [program, ...first]: Runtime = presentNode,
): ChildProcess {
  return startProgram(program, [...first, ...args], options)
}

/** Starts a program of the system in the same way. */
export function startProgram(
  name: string,
  args: readonly string[],
  options: SpawnOptions = {},
): ChildProcess {
  const child = spawn(name, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    ...options,
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

/** Starts a script of this folder, which exits when its message channel closes. */
export function startScript(
  name: string,
  args: readonly string[] = [],
  runtime?: Runtime,
): ChildProcess {
  const options: SpawnOptions = {
    cwd: repository,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  }
  return startNode(['--import', 'tsx', `bench/${name}.ts`, ...args], options, runtime)
}

/** Resolves to the next message of a process; rejects when it exits without one. */
export async function nextMessage(child: ChildProcess): Promise<unknown> {
  const ended = new AbortController()
  const abort = () => ended.abort(new Error(`ended: ${child.spawnargs.join(' ')}`))
  child.once('exit', abort)
  const [message] = await once(child, 'message', { signal: ended.signal })
  child.off('exit', abort)
  return message
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

export async function stopAll(): Promise<void> {
  await Promise.all([...running].map(stop))
}

/** Ends all running processes when this one is interrupted or fails. */
export function stopAllAtExit(): void {
  process.once('exit', () => {
    for (const child of running) child.kill('SIGKILL')
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => process.exit(130))
  }
}

export function getPid(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error(`cannot start ${child.spawnfile}`)
  return child.pid
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Polls until the probe returns true. */
export async function waitUntil(
  probe: () => Promise<boolean>,
  child: ChildProcess,
  maxMs = 120_000,
): Promise<void> {
  const deadline = performance.now() + maxMs
  while (!(await probe())) {
    const name = child.spawnargs.join(' ')
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${name}`)
    if (performance.now() > deadline) throw new Error(`does not answer after ${maxMs} ms: ${name}`)
    await sleep(2)
  }
}

/** True when something listens at the port. */
export function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

/** True when `/health` answers 200. */
export function isHealthy(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ port, host: '127.0.0.1', path: '/health', agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.on('error', () => resolve(false))
  })
}
