import { describe, expect, onTestFinished, test } from 'vitest'
import { checkConfig, type OpenSharedState, SharedStateFault } from '../../src/index.ts'
import { oneProvider, testGateway } from '../support/gateway.ts'

const shared = (settings: string) => `${oneProvider}\n[shared]\n${settings}`

/** A server in name only, which is up or away. */
function fakeServer(isUp = true) {
  const opened: unknown[] = []
  let isClosed = false
  const openShared: OpenSharedState = async ({ url, prefix }) => {
    opened.push({ url, prefix })
    return {
      isUp,
      call: () => Promise.reject(new SharedStateFault('away')),
      batch: () => Promise.reject(new SharedStateFault('away')),
      flush() {},
      publish: async () => {},
      subscribe() {},
      onUp() {},
      async close() {
        isClosed = true
      },
    }
  }
  return { opened, openShared, isClosed: () => isClosed }
}

describe('the start with shared state', () => {
  test('the server is opened with its address and the prefix, and closed with the gateway', async () => {
    const server = fakeServer()
    const { gateway } = await testGateway(
      shared('url = "redis://a.test/2"\nprefix = "team"'),
      server,
    )
    expect(server.opened).toEqual([{ url: 'redis://a.test/2', prefix: 'team' }])
    await gateway.close()
    expect(server.isClosed()).toBe(true)
  })

  test('the address may come from a variable, and the overview shows no password', async () => {
    const server = fakeServer()
    const env = { P_KEY: 'x', GATEWAY_REDIS: 'redis://u:canary@a.test' }
    const { gateway } = await testGateway(shared('url_env = "GATEWAY_REDIS"'), { ...server, env })
    onTestFinished(() => void gateway.close())
    expect(server.opened).toEqual([{ url: 'redis://u:canary@a.test', prefix: 'gateway' }])
    expect(gateway.overview.shared).toMatchObject({ server: 'GATEWAY_REDIS', prefix: 'gateway' })
    const other = await testGateway(shared('url = "redis://u:canary@b.test"'), server)
    onTestFinished(() => void other.gateway.close())
    expect(JSON.stringify(other.gateway.overview)).not.toContain('canary')
  })

  test('a reason why the server cannot be used ends the start', async () => {
    const openShared = () => Promise.reject(new SharedStateFault('Redis 6.0.0 is too old'))
    const starting = testGateway(shared('url = "redis://a.test"'), { openShared })
    await expect(starting).rejects.toThrow('shared state: Redis 6.0.0 is too old')
  })

  test('a variable that is unset or no address ends the start, and the check names it', async () => {
    const config = shared('url_env = "REDIS"')
    await expect(testGateway(config, fakeServer())).rejects.toThrow('REDIS is unset or empty')
    const env = { REDIS: 'http://canary@a.test' }
    const verdict = await checkConfig(config, env)
    expect(verdict).toMatchObject({
      startProblems: ['shared.url_env: the variable REDIS must hold a redis or rediss URL'],
    })
  })

  test('a host without a client refuses the table', async () => {
    const starting = testGateway(shared('url = "redis://a.test"'))
    await expect(starting).rejects.toThrow('this host cannot share its state')
  })

  test('readiness stays 200 while the server is away, and a metric shows it', async () => {
    const { gateway, get } = await testGateway(shared('url = "redis://a.test"'), fakeServer(false))
    onTestFinished(() => void gateway.close())
    expect((await get('/health/ready')).status).toBe(200)
    expect(await (await get('/metrics')).text()).toContain('\ngateway_shared_state_up 0\n')
  })
})

test.each([
  ['prefix = "a"', 'shared (line'],
  ['url = "http://a.test"', 'must be a redis or rediss URL'],
  ['url = "redis://a.test/x"', 'must be a redis or rediss URL'],
  ['url = "redis://a.test"\nurl_env = "B"', 'must not be set beside url'],
  ['url = "redis://a.test"\nprefix = "a b"', 'shared.prefix'],
  ['url = "redis://a.test"\nlease_ms = 999', 'shared.lease_ms'],
  ['url = "redis://a.test"\non_loss = "wait"', 'shared.on_loss'],
])('%j is refused', async (settings, problem) => {
  const verdict = await checkConfig(shared(settings), {})
  expect(verdict.ok ? '' : verdict.problems.join('\n')).toContain(problem)
})
