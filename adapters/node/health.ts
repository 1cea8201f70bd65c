import { get } from 'node:http'
import { loadConfig } from '../../src/config/index.ts'
import type { Environment } from '../../src/index.ts'
import { kinds } from '../../src/providers/index.ts'
import { CommandFailure } from './command-failure.ts'

/** How long a gateway may take to say that it is alive, in milliseconds. */
const patience = 3_000

/** Asks the gateway of a configuration whether it is alive. Fails with exit code 1 if it is not. */
export async function checkHealth(config: string, env: Environment): Promise<void> {
  const loaded = await loadConfig({ text: config, env, kinds })
  if (!loaded.ok) throw new CommandFailure(1, 'the configuration is not valid')
  const { host, port } = loaded.config.server
  const problem = await problemAt(`http://${reachable(host)}:${port}/health`)
  if (problem !== undefined) throw new CommandFailure(1, `not healthy: ${problem}`)
}

/** An address to connect to, for one to bind. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

function problemAt(url: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = get(url, { timeout: patience, agent: false }, (response) => {
      const { statusCode } = response.resume()
      resolve(statusCode === 200 ? undefined : `it answers with status ${statusCode}`)
    })
    request.on('timeout', () => request.destroy(new Error('timeout')))
    request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  })
}
