import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { run } from '../../../adapters/node/cli.ts'
import { nodePorts, type Serving, serve } from '../../../adapters/node/index.ts'
import { createGateway } from '../../../src/index.ts'
import { masterKey } from './keyed-host.ts'
import { freePort } from './shipped-gateway.ts'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A folder with a configuration, and the command line in this process with that configuration. */
export interface CommandLine {
  /** The folder, which is deleted when the test ends. */
  readonly folder: string
  /** The path of the configuration file. */
  readonly config: string
  /** The address where the configuration lets a gateway listen. */
  readonly address: string
  /** Runs a command with `--config`. */
  run(...args: readonly string[]): Promise<Ran>
  /** Runs a command with `--json` and parses what it prints. */
  json(...args: readonly string[]): Promise<Record<string, unknown>>
  /** Serves the configuration in this process until the test ends. */
  serve(): Promise<Serving>
}

const demo = `
[[providers]]
name = "demo"
kind = "demo"

[[providers.models]]
id = "demo"
cost_per_1m_input = 2.5
cost_per_1m_output = 10
`

/** Prepares a command line with auth on, a new database, a free port and the master key. */
export async function commandLine(config = demo): Promise<CommandLine> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const port = await freePort()
  const path = join(folder, 'config.toml')
  const database = JSON.stringify(join(folder, 'gateway.db'))
  const auth = `[auth]\nenabled = true\ndb_path = ${database}\nusage_flush_ms = 20\n`
  writeFileSync(path, `[server]\nport = ${port}\n${auth}${config}`)
  setVariables({ GATEWAY_MASTER_KEY: masterKey, NO_COLOR: '1' })
  const runHere = (...args: readonly string[]) => runCommand(...args, '--config', path)
  return {
    folder,
    config: path,
    address: `http://127.0.0.1:${port}`,
    run: runHere,
    async json(...args) {
      const { code, stdout, stderr } = await runHere(...args, '--json')
      if (code !== 0) throw new Error(stderr)
      return JSON.parse(stdout)
    },
    async serve() {
      const ports = nodePorts({ ...process.env, GATEWAY_LOG_LEVEL: 'error' })
      const gateway = await createGateway({ ...ports, config: readFileSync(path, 'utf8') })
      const serving = await serve(gateway, { shutdown: { drain: 100 } })
      onTestFinished(async () => {
        await serving.close()
        await ports.close()
      })
      return serving
    },
  }
}

/** Sets variables of the environment until the test ends; undefined removes one. */
export function setVariables(variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
}

/** Runs a command line in this process and captures what it prints. */
export async function runCommand(...args: readonly string[]): Promise<Ran> {
  const output = { stdout: '', stderr: '' }
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text, ...rest: unknown[]) => {
      output[name] += String(text)
      const done = rest.at(-1)
      if (typeof done === 'function') done()
      return true
    }),
  )
  const code = await run(args)
  for (const spy of spies) spy.mockRestore()
  return { code, ...output }
}
