import { type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundlePath } from '../../../bench/bundle.ts'
import { freePort, isHealthy, startNode, waitUntil } from '../../../bench/processes.ts'
import { inputNano, outputNano } from './prices.ts'

/** Starts are slow beside 64 connections on a machine that is busy with other work. */
const maxStartMs = 120_000

/** How long the reservations of a killed gateway remain. */
export const leaseMs = 2_000

const masterKey = 'a7'.repeat(32)

export interface GatewayOptions {
  readonly upstreamPort: number
  /** The folder of the database; a new one by default. */
  readonly home?: string
  /** The address of a database server, instead of a file. */
  readonly databaseUrl?: string
  /** Further settings of `[auth]`. */
  readonly auth?: string
  /** The address of a Redis server for the state that several gateways share. */
  readonly sharedUrl?: string
}

/** A gateway whose process is started, killed and started again over the same database. */
export class ProvedGateway {
  readonly port: number
  readonly database: string
  readonly #folder: string
  #process: ChildProcess | undefined

  constructor(port: number, options: GatewayOptions) {
    const { upstreamPort, home, databaseUrl, auth = '', sharedUrl } = options
    this.port = port
    this.#folder = mkdtempSync(join(tmpdir(), 'gateway-proof-'))
    process.once('exit', () => rmSync(this.#folder, { recursive: true, force: true }))
    this.database = databaseUrl ?? join(home ?? this.#folder, 'gateway.db')
    writeFileSync(
      join(this.#folder, 'config.toml'),
      toConfig({ port, upstreamPort, auth, database: this.database, sharedUrl }),
    )
  }

  /** Starts a process, and waits until it serves. */
  async start(): Promise<void> {
    const log = openSync(join(this.#folder, 'log'), 'a')
    const command = [bundlePath, '--config', join(this.#folder, 'config.toml')]
    this.#process = startNode(command, {
      cwd: this.#folder,
      env: { PATH: process.env['PATH'], GATEWAY_MASTER_KEY: masterKey, UPSTREAM_KEY: 'sk-proof' },
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    await waitUntil(() => isHealthy(this.port), this.#process, maxStartMs)
  }

  /** Ends the process with SIGKILL. */
  kill(): Promise<void> {
    return this.#end('SIGKILL')
  }

  /** Ends the process as a supervisor does. */
  stop(): Promise<void> {
    return this.#end('SIGTERM')
  }

  async admin(method: string, path: string, body?: object): Promise<AdminAnswer> {
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`, {
      method,
      headers: { authorization: `Bearer ${masterKey}` },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`)
    // The admin API answers every call with an object.
    return (await response.json()) as AdminAnswer
  }

  /** Returns the value of a metric without labels. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${this.port}/metrics`)).text()
    return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1] ?? 0)
  }

  /** Returns the log lines that contain a text, of all processes so far. */
  logLines(text: string): Record<string, unknown>[] {
    const lines = readFileSync(join(this.#folder, 'log'), 'utf8').split('\n')
    return lines.filter((line) => line.includes(text)).map((line) => JSON.parse(line))
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.kill(signal)
    await once(child, 'exit')
  }
}

export type AdminAnswer = Readonly<Record<string, unknown>>

export async function createGateway(options: GatewayOptions): Promise<ProvedGateway> {
  return new ProvedGateway(await freePort(), options)
}

/** Starts three gateways on one database, which share their state. */
export async function startThree(
  options: Omit<GatewayOptions, 'home'> & Required<Pick<GatewayOptions, 'sharedUrl'>>,
): Promise<Three> {
  const home = mkdtempSync(join(tmpdir(), 'gateway-proof-'))
  process.once('exit', () => rmSync(home, { recursive: true, force: true }))
  const open = async () => {
    const gateway = await createGateway({ ...options, home })
    await gateway.start()
    return gateway
  }
  return [await open(), await open(), await open()]
}

export type Three = readonly [ProvedGateway, ProvedGateway, ProvedGateway]

export function pickOne(gateways: Three, random: () => number): ProvedGateway {
  // `random` is below 1.
  return gateways[Math.floor(random() * 3)] as ProvedGateway
}

interface ConfigValues {
  readonly port: number
  readonly upstreamPort: number
  readonly auth: string
  readonly database: string
  readonly sharedUrl: string | undefined
}

function toConfig({ port, upstreamPort, auth, database, sharedUrl }: ConfigValues): string {
  return `
log_format = "json"

[server]
port = ${port}

[auth]
enabled = true
db_path = ${JSON.stringify(database)}
${auth}

[[providers]]
name = "upstream"
kind = "openai"
base_url = "http://127.0.0.1:${upstreamPort}/v1"
api_key_env = "UPSTREAM_KEY"

[[providers.models]]
id = "m"
cost_per_1m_input = ${inputNano / 1000}
cost_per_1m_output = ${outputNano / 1000}
${sharedUrl ? `[shared]\nurl = "${sharedUrl}"\nlease_ms = ${leaseMs}` : ''}
`
}
