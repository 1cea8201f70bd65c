import { get } from 'node:http'
import type { Environment } from '../../../src/index.ts'
import { getGatewayAddress } from '../admin/gateway-address.ts'
import { readConfigText } from '../config/config-text.ts'
import { CommandFailure } from '../failures/command-failure.ts'

/** How long the gateway may take to answer, in milliseconds. */
const healthTimeout = 3_000

/**
 * Checks that the gateway of a configuration file is healthy; fails with exit code 1 if it is not. The
 * file may be missing, as with `--demo`, or invalid, since a running gateway then keeps serving the
 * previous configuration.
 */
export async function checkHealth(path: string | undefined, env: Environment): Promise<void> {
  const text = await readConfigText(path).catch(() => '')
  const problem = await probeHealth(`${getGatewayAddress(text, env)}/health`)
  if (problem !== undefined) throw new CommandFailure(1, `not healthy: ${problem}`)
}

function probeHealth(url: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = get(url, { timeout: healthTimeout, agent: false }, (response) => {
      const { statusCode } = response.resume()
      resolve(statusCode === 200 ? undefined : `status ${statusCode}`)
    })
    request.on('timeout', () => request.destroy(new Error('timeout')))
    request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  })
}
