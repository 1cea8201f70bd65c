import { describe, expect, onTestFinished, test } from 'vitest'
import { nodePorts, requestListener } from '../../adapters/node/index.ts'
import { createGateway, type Gateway } from '../../src/index.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { masterKey } from './support/keyed-host.ts'
import { parsed, rawAnswer } from './support/raw-client.ts'
import { httpServer } from './support/servers.ts'
import { served } from './support/stub-gateway.ts'

/*
 * What a path leads to, as it comes over a socket. With auth on, since there is an admin plane then.
 */

const lines: unknown[] = []

async function keyedGateway(): Promise<Gateway> {
  lines.length = 0
  const ports = nodePorts({})
  onTestFinished(() => ports.close())
  return createGateway({
    ...ports,
    log: () => ({ enabled: () => true, write: (...line) => lines.push(line) }),
    env: { GATEWAY_MASTER_KEY: masterKey },
    openStore: async () => new MemoryStore(),
    config: '[auth]\nenabled = true',
  })
}

/** The status, and the code of the error, that this path gets from a host. */
type Ask = (path: string, host?: string) => Promise<string>

const hosts: readonly [string, () => Promise<Ask>][] = [
  ['the host', async () => asking((await served(await keyedGateway())).port)],
  [
    'a server of Node with a listener',
    async () => asking((await httpServer(requestListener(await keyedGateway()))).port),
  ],
]

function asking(port: number): Ask {
  return async (path, host = 'a') => {
    const head = `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${masterKey}`
    const { status, body } = parsed(await rawAnswer(port, `${head}\r\nconnection: close\r\n\r\n`))
    return `${status} ${JSON.parse(body).error?.code ?? ''}`.trim()
  }
}

describe.each(hosts)('%s', (_, open) => {
  test.each([
    '/v1/../admin/keys',
    '/health/%2e%2e/admin/keys',
    '/v1/models/%2E%2e/.%2e/admin/keys',
    '/./admin/keys',
    '/admin/%2e/keys',
    '/v1/models/..',
    '/..',
    '/v1/..?a=b',
    'http://gw/v1/../admin/keys',
  ])('the dot segment in %s is rejected with 400', async (path) => {
    const ask = await open()
    expect(await ask(path)).toBe('400 LM-1001')
  })

  test.each([
    ['/admin/keys', '200'],
    ['/admin/keys/', '200'],
    ['/%61dmin/keys', '404 LM-1003'],
    ['//admin/keys', '404 LM-1003'],
    ['/admin//keys', '404 LM-1003'],
    ['/v1/models/a..b', '401 LM-4004'],
    ['/v1/models/gpt-4.1', '401 LM-4004'],
    ['/v1/models/.hidden', '401 LM-4004'],
    ['/health?path=/../admin', '200'],
  ])('answers %s with %s', async (path, answer) => {
    const ask = await open()
    expect(await ask(path)).toBe(answer)
  })

  test.each(['1.2.3.999', 'a:99999', '[::::]', 'xn--a', '1.2.3.4.5'])(
    'refuses the Host %s with 400, and no line in the log',
    async (host) => {
      const ask = await open()
      lines.length = 0
      for (const path of ['/nope', '/v1/models/m', '/health?x', '/health']) {
        expect(await ask(path, host)).toBe('400 LM-1001')
      }
      expect(lines).toEqual([])
    },
  )
})
