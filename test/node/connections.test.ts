import { describe, expect, test } from 'vitest'
import { built, command } from './support/command.ts'
import { parsed, type RawClient, rawClient } from './support/raw-client.ts'
import { deferred } from './support/servers.ts'
import { freePort } from './support/shipped-gateway.ts'
import { clientGone, served, stubGateway, text } from './support/stub-gateway.ts'

const get = (path = '/') => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`

/** Two connections, and one more for health. */
const limits = { maxConnections: 2, healthConnections: 1 }

/** A gateway that answers at once, but for `/slow`, which it answers when told. */
function patientGateway(settings = {}) {
  const release = deferred()
  const gateway = stubGateway(
    async (request) => {
      if (request.url.endsWith('/slow')) await release.promise
      return text('answer')
    },
    { settings },
  )
  return { gateway, release: () => release.resolve() }
}

/** A client that has been answered, and keeps its connection. */
async function kept(port: number, path = '/'): Promise<RawClient> {
  const client = rawClient(port)
  client.send(get(path))
  await client.until('answer')
  return client
}

/** Whether a client is still answered over the connection that it has. */
async function isOpen(client: RawClient): Promise<boolean> {
  client.send(get('/again'))
  return Promise.race([client.until(/answer[^]*answer/), client.whole]).then(
    () => !client.socket.closed,
    () => false,
  )
}

describe('at the connection limit', () => {
  test('a new connection replaces the one that has been idle longest', async () => {
    const { gateway } = patientGateway()
    const { port } = await served(gateway, { limits })
    const [first, second, third] = [await kept(port), await kept(port), await kept(port)]
    expect(await isOpen(first)).toBe(true)
    const fourth = await kept(port)
    await second.whole
    const fifth = await kept(port)
    await third.whole
    for (const client of [first, fourth, fifth]) expect(await isOpen(client)).toBe(true)
  })

  test('a connection that has not sent a request counts as idle', async () => {
    const { port } = await served(patientGateway().gateway, { limits })
    const silent = rawClient(port)
    const others = [await kept(port), await kept(port), await kept(port)]
    expect(await silent.whole).toBe('')
    expect(await isOpen(others.at(-1) as RawClient)).toBe(true)
  })

  test('a running request is never ended for a new connection', async () => {
    const { gateway, release } = patientGateway()
    const { port } = await served(gateway, { limits })
    const running = rawClient(port)
    running.send(get('/slow'))
    await expect.poll(() => gateway.calls).toHaveLength(1)
    for (let turn = 0; turn < 5; turn++) await kept(port)
    release()
    expect(parsed(await running.until('answer')).status).toBe(200)
  })

  test('a burst of connections logs one line', async () => {
    const { gateway } = patientGateway()
    const { port } = await served(gateway, { limits })
    for (let turn = 0; turn < 10; turn++) await kept(port)
    expect(gateway.lines).toMatchObject([{ level: 'warn', fields: { maxConnections: 2 } }])
    expect(gateway.lines[0]?.message).toContain('closing idle connections')
  })
})

describe('when every connection has a request', () => {
  async function full() {
    const patient = patientGateway()
    const { port } = await served(patient.gateway, { limits })
    const running = [rawClient(port), rawClient(port)]
    for (const client of running) client.send(get('/slow'))
    await expect.poll(() => patient.gateway.calls).toHaveLength(2)
    return { ...patient, port, running }
  }

  test.each(['/health', '/health?a=b', '/health/providers'])(
    '%s still gets a response',
    async (path) => {
      const { port } = await full()
      await expect(kept(port, path)).resolves.toBeDefined()
      await expect(kept(port, path)).resolves.toBeDefined()
    },
  )

  test('a further request is rejected with one log line, and running ones go on', async () => {
    const { port, gateway, running, release } = await full()
    for (const path of ['/v1/models', '/healthy']) {
      const client = rawClient(port)
      client.send(get(path))
      expect(await client.whole).toBe('')
    }
    expect(gateway.lines).toMatchObject([
      {
        level: 'warn',
        message: 'connection limit reached, closing the new connection',
        fields: { maxConnections: 2 },
      },
    ])
    expect(gateway.calls).toHaveLength(2)
    release()
    for (const client of running) expect(await client.until('answer')).toContain('200 OK')
    await kept(port, '/v1/models')
  })

  test('a pipelined request waits in the queue', async () => {
    const { running, release } = await full()
    running[0]?.send(get('/next'))
    release()
    expect(await running[0]?.until(/answer[^]*answer/)).toContain('200 OK')
  })
})

describe('max_connections_per_address', () => {
  test('connections of an address over its limit are closed until it closes one', async () => {
    const { gateway } = patientGateway({ maxConnectionsPerAddress: 2 })
    const { port } = await served(gateway)
    const [first, second] = [await kept(port), await kept(port)]
    expect(await rawClient(port).whole).toBe('')
    expect(await rawClient(port).whole).toBe('')
    expect(gateway.lines).toMatchObject([
      { level: 'warn', fields: { address: '127.0.0.1', maxPerAddress: 2 } },
    ])
    first.socket.destroy()
    await expect
      .poll(() =>
        kept(port).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
    expect(await isOpen(second)).toBe(true)
  })

  test('the limit per address follows a reload', async () => {
    const settings = { maxConnectionsPerAddress: 1 }
    const { gateway } = patientGateway()
    const { port } = await served({
      ...gateway,
      get settings() {
        return { ...gateway.settings, ...settings }
      },
    })
    await kept(port)
    expect(await rawClient(port).whole).toBe('')
    settings.maxConnectionsPerAddress = 0
    await kept(port)
  })
})

test('a client that leaves a busy connection frees it', async () => {
  const gateway = stubGateway(async (request, context) => {
    if (request.url.endsWith('/slow')) await clientGone(context)
    return text('answer')
  })
  const { port } = await served(gateway, { limits })
  const running = [rawClient(port), rawClient(port)]
  for (const client of running) client.send(get('/slow'))
  await expect.poll(() => gateway.calls).toHaveLength(2)
  for (const client of running) client.socket.destroy()
  await expect
    .poll(() =>
      kept(port, '/v1/models').then(
        () => true,
        () => false,
      ),
    )
    .toBe(true)
})

describe('a process at its limit of open files', () => {
  test('the open file limit is logged once per burst, with advice', async () => {
    const port = await freePort()
    const gateway = command(
      ['-c', `ulimit -n 80; exec "$0" "$@"`, process.execPath, built.executable, '--demo'],
      {
        executable: '/bin/sh',
        env: { GATEWAY_SERVER__PORT: String(port), GATEWAY_LOG_FORMAT: 'json' },
      },
    )
    await gateway.until(/listening/)
    const clients = Array.from({ length: 100 }, () => rawClient(port))
    const line = await gateway.until(/^.*open file limit reached.*$/m)
    expect(line[0]).toContain('"code":"EMFILE"')
    expect(line[0]).toContain('raise the limit (ulimit -n')
    for (const { socket } of clients) socket.destroy()
    await expect.poll(async () => (await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
    expect(gateway.output.stdout.split('open file limit')).toHaveLength(2)
  })
})
