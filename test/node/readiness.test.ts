import { expect, test } from 'vitest'
import { built, type Command, command, finished } from './support/command.ts'
import { timed } from './support/servers.ts'
import { freePort } from './support/shipped-gateway.ts'

/*
 * The shipped executable between SIGTERM and the end of its drain delay.
 */

interface Running extends Command {
  readonly address: string
}

/** Runs the demo with a drain delay, in milliseconds. */
async function running(drainDelay: number): Promise<Running> {
  const env = {
    GATEWAY_SERVER__PORT: String(await freePort()),
    GATEWAY_SERVER__DRAIN_DELAY_MS: String(drainDelay),
    GATEWAY_LOG_FORMAT: 'json',
  }
  const started = command([built.executable, '--demo'], { env })
  const [, address = ''] = await started.until(/"address":"([^"]+)"/)
  return { ...started, address }
}

/** Sends a request on a new connection. */
async function ask(url: string) {
  const response = await fetch(url, { headers: { connection: 'close' } })
  return { status: response.status, body: await response.text() }
}

test('after SIGTERM the gateway is not ready but serves, and stops after the delay', async () => {
  const gateway = await running(2_000)
  expect(await ask(`${gateway.address}/health/ready`)).toMatchObject({ status: 200 })
  const time = timed(finished(gateway))
  gateway.process.kill('SIGTERM')
  await gateway.until(/"running":0,"delay_ms":2000,"msg":"draining, still accepting connections"/)
  expect(await ask(`${gateway.address}/health/ready`)).toEqual({
    status: 503,
    body: '{"status":"draining"}',
  })
  expect(await ask(`${gateway.address}/v1/models`)).toMatchObject({ status: 200 })
  expect(await ask(`${gateway.address}/health`)).toMatchObject({ status: 200 })
  expect(gateway.output.stdout).not.toContain('shutting down')
  expect(await finished(gateway)).toMatchObject({ code: 0, stderr: '' })
  expect(await time).toBeGreaterThanOrEqual(2_000)
  expect(gateway.output.stdout).toContain('shutting down')
})

test('a response during the delay closes its connection, so that clients move on', async () => {
  const { address, process } = await running(2_000)
  process.kill('SIGTERM')
  await expect.poll(async () => (await ask(`${address}/health/ready`)).status).toBe(503)
  const response = await fetch(`${address}/v1/models`)
  expect(response.headers.get('connection')).toBe('close')
})

test.each(['SIGTERM', 'SIGINT'] as const)(
  'a second signal, %s, ends the process at once with 1 during the delay',
  async (second) => {
    const gateway = await running(60_000)
    gateway.process.kill('SIGTERM')
    await gateway.until(/draining/)
    gateway.process.kill(second)
    expect(await timed(finished(gateway))).toBeLessThan(5_000)
    expect(await finished(gateway)).toMatchObject({ code: 1, stderr: '' })
  },
)
