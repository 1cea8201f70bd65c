import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

/*
 * Sends thousands of generated requests to a gateway with auth and the demo provider, and fails on an
 * internal error or an answer that openapi.json does not have: `npm run openapi:fuzz [-- OPTIONS]`. The
 * options are those of `schemathesis run`. It needs Python, and installs Schemathesis from PyPI.
 */

const version = '4.32.5'
const masterKey = '0123456789abcdef'.repeat(4)

const config = `
[auth]
enabled = true
[[providers]]
name = "demo"
kind = "demo"
[[providers.models]]
id = "demo"
modalities = ["text", "image"]
cost_per_1m_input = 1
cost_per_1m_output = 1
[[providers.models]]
id = "demo-retrieval"
capabilities = ["embed", "rerank"]
cost_per_1m_input = 1
cost_per_1k_searches = 1
[[providers.models]]
id = "demo-decisions"
capabilities = ["decisions"]
cost_per_1m_input = 1
[[providers.models]]
id = "demo-system-one"
capabilities = ["decisions"]
cost_per_1m_input = 1
decisions = "typesafe"
`

const home = mkdtempSync(join(tmpdir(), 'gateway-fuzz-'))
const gateway = await startGateway()
try {
  process.exitCode = fuzz(installSchemathesis(), await createKey())
} finally {
  gateway.stop()
  rmSync(home, { recursive: true, force: true })
}

/** Builds and starts the gateway. Its outgoing calls, such as webhooks, go to a closed port. */
async function startGateway() {
  execFileSync(process.execPath, ['scripts/build.mjs', '--no-types'], { stdio: 'inherit' })
  const file = join(home, 'config.toml')
  writeFileSync(file, config)
  const child = spawn(process.execPath, [resolve('dist/gateway.js'), '--config', file], {
    cwd: home,
    env: {
      PATH: process.env['PATH'],
      GATEWAY_MASTER_KEY: masterKey,
      GATEWAY_LOG_FORMAT: 'json',
      GATEWAY_SERVER__PORT: String(await findFreePort()),
      HTTPS_PROXY: 'http://127.0.0.1:9',
      HTTP_PROXY: 'http://127.0.0.1:9',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const address = await new Promise<string>((found, reject) => {
    child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}`)))
    createInterface(child.stdout).on('line', (line) => {
      const [, url] = /"address":"([^"]+)"/.exec(line) ?? []
      if (url) found(url)
      if (line.includes('"level":"error"')) console.error(line)
    })
  })
  return { address, stop: () => child.kill('SIGTERM') }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

async function createKey(): Promise<string> {
  const response = await fetch(`${gateway.address}/admin/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${masterKey}` },
    body: JSON.stringify({ name: 'fuzz' }),
  })
  // A created key is answered with its secret.
  return ((await response.json()) as { key: string }).key
}

/** Installs Schemathesis into an environment of its own, once. Returns the path of the command. */
function installSchemathesis(): string {
  const venv = join(homedir(), '.cache', 'model-gateway', `schemathesis-${version}`)
  const command = join(venv, 'bin', 'schemathesis')
  if (existsSync(command)) return command
  execFileSync('python3', ['-m', 'venv', venv], { stdio: 'inherit' })
  const pip = ['install', '--quiet', `schemathesis==${version}`]
  execFileSync(join(venv, 'bin', 'pip'), pip, { stdio: 'inherit' })
  return command
}

/** Runs Schemathesis, and returns its exit code. `key`: a virtual key, beside the master key. */
function fuzz(command: string, key: string): number {
  const checks = [
    'not_a_server_error',
    'status_code_conformance',
    'content_type_conformance',
    'response_headers_conformance',
    'response_schema_conformance',
  ]
  const options = ['--checks', checks.join(','), '--max-examples', '100', '--continue-on-failure']
  const headers = ['-H', `authorization: Bearer ${masterKey}`, '-H', `x-api-key: ${key}`]
  const target = [resolve('openapi.json'), '--url', gateway.address]
  const run = ['run', ...target, ...headers, ...options, ...process.argv.slice(2)]
  return spawnSync(command, run, { stdio: 'inherit', cwd: home }).status ?? 1
}
