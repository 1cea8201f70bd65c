import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort, getPid, listens, repository, startProgram, waitUntil } from '../processes.ts'
import { benchModel } from '../scenarios.ts'
import { credential, type Subject } from '../subjects.ts'
import type { Peer } from './peer.ts'

/** LiteLLM's proxy with one worker, without a database and without keys. */
export const litellm: Peer = { name: 'litellm', install, start }

const requirements = fileURLToPath(new URL('requirements.txt', import.meta.url))
const environment = join(repository, '.runtimes/bench/litellm')

/** Makes a virtual environment with the pinned packages. It is made again when their list changes. */
function install(): string {
  const wanted = readFileSync(requirements, 'utf8')
  const stamp = join(environment, 'installed.txt')
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
    rmSync(environment, { recursive: true, force: true })
    execFileSync('python3', ['-m', 'venv', environment], { stdio: 'inherit' })
    const args = ['install', '--quiet', '--no-deps', '-r', requirements]
    execFileSync(join(environment, 'bin/pip'), args, { stdio: 'inherit' })
    writeFileSync(stamp, wanted)
  }
  const [, version] = /^litellm==(.+)$/m.exec(wanted) ?? []
  if (!version) throw new Error('the list of packages lacks litellm')
  return version
}

async function start(upstreamPort: number): Promise<Subject> {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const config = join(folder, 'config.yaml')
  writeFileSync(
    config,
    `model_list:
  - model_name: ${benchModel}
    litellm_params:
      model: openai/${benchModel}
      api_base: http://127.0.0.1:${upstreamPort}/v1
      api_key: sk-bench
`,
  )
  const listener = ['--host', '127.0.0.1', '--port', String(port), '--num_workers', '1']
  const args = ['--config', config, ...listener, '--telemetry', 'False']
  const child = startProgram(join(environment, 'bin/litellm'), args, {
    cwd: folder,
    stdio: 'ignore',
    env: {
      PATH: process.env['PATH'],
      // It does not start without keys otherwise.
      LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY: 'true',
      // Prices from the package instead of the network.
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    },
  })
  await waitUntil(() => listens(port), child)
  return { name: 'litellm', port, pid: getPid(child), headers: credential }
}
