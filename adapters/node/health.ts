import { get } from 'node:http'
import { getListenAddress } from '../../src/config/index.ts'
import type { Environment } from '../../src/index.ts'
import { CommandFailure } from './command-failure.ts'
import { readConfigText } from './config-text.ts'

/** How long a gateway may take to say that it is alive, in milliseconds. */
const healthTimeout = 3_000

/**
 * Asks the gateway of a configuration file whether it is alive. Fails with exit code 1 if it is not.
 * There need be no file, as beside `--demo`, and none that can serve: while one waits to be mended,
 * the configuration before it still does.
 */
export async function checkHealth(path: string | undefined, env: Environment): Promise<void> {
  const text = await readConfigText(path).catch(() => '')
  const { host, port } = getListenAddress(text, env)
  const problem = await probeHealth(`http://${toConnectHost(host)}:${port}/health`)
  if (problem !== undefined) throw new CommandFailure(1, `not healthy: ${problem}`)
}

/** An address to connect to, for one to bind. */
function toConnectHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

function probeHealth(url: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = get(url, { timeout: healthTimeout, agent: false }, (response) => {
      const { statusCode } = response.resume()
      resolve(statusCode === 200 ? undefined : `it answers with status ${statusCode}`)
    })
    request.on('timeout', () => request.destroy(new Error('timeout')))
    request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  })
}
