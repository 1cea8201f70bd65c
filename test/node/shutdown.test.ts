import { describe, expect, test } from 'vitest'
import { parsed, rawClient } from './support/raw-client.ts'
import { deferred, timed } from './support/servers.ts'
import { type Answer, served, stream, stubGateway, text } from './support/stub-gateway.ts'

const get = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'
const bytes = (content: string) => new TextEncoder().encode(content)

describe('closing a host', () => {
  test('closing an idle host takes less than a second, even with idle connections', async () => {
    const gateway = stubGateway(() => text('answer'))
    const { port, serving } = await served(gateway, { shutdown: { drain: 30_000 } })
    const client = rawClient(port)
    client.send(get)
    await client.until('answer')
    expect(await timed(serving.close())).toBeLessThan(1_000)
    await client.whole
    expect(gateway.calls).toEqual(['GET /', 'close'])
  })

  test('a running request finishes with connection: close, and no other is accepted', async () => {
    const asked = deferred()
    const finish = deferred()
    const answer: Answer = async () => {
      asked.resolve()
      await finish.promise
      return text('answer')
    }
    const { port, serving } = await served(stubGateway(answer), { shutdown: { drain: 30_000 } })
    const client = rawClient(port)
    client.send(get)
    await asked.promise
    const closing = serving.close()
    expect(await rawClient(port).whole).toBe('')
    finish.resolve()
    await closing
    expect(parsed(await client.whole)).toMatchObject({
      status: 200,
      body: 'answer',
      headers: { connection: 'close' },
    })
  })

  test('a running stream may finish', async () => {
    const finish = deferred()
    const answer: Answer = () =>
      stream({
        start: (controller) => controller.enqueue(bytes('first')),
        async pull(controller) {
          await finish.promise
          controller.enqueue(bytes('last'))
          controller.close()
        },
      })
    const gateway = stubGateway(answer)
    const { port, serving } = await served(gateway, { shutdown: { drain: 30_000 } })
    const client = rawClient(port)
    client.send(get)
    await client.until('first')
    const closing = serving.close()
    finish.resolve()
    await closing
    expect(await client.whole).toMatch(/last\r\n0\r\n\r\n$/)
    expect(gateway.calls).toEqual(['GET /', 'close'])
  })

  test('a stream that runs past the drain time ends with its terminal frame', async () => {
    const end = deferred()
    const answer: Answer = () =>
      stream({
        start: (controller) => controller.enqueue(bytes('first')),
        async pull(controller) {
          await end.promise
          controller.enqueue(bytes('data: {"error":{}}\n\n'))
          controller.close()
        },
      })
    const gateway = stubGateway(answer, { drain: end.resolve })
    const { port, serving } = await served(gateway, {
      shutdown: { drain: 20, gracePeriod: 10_000 },
    })
    const client = rawClient(port)
    client.send(get)
    await client.until('first')
    expect(await timed(serving.close())).toBeLessThan(1_000)
    expect(await client.whole).toContain('data: {"error":{}}\n\n\r\n0\r\n\r\n')
    expect(gateway.calls).toEqual(['GET /', 'drain', 'close'])
  })

  test('a request that does not end within the grace period is cut off', async () => {
    const gateway = stubGateway(() => new Promise<Response>(() => {}))
    const { port, serving } = await served(gateway, { shutdown: { drain: 20, gracePeriod: 20 } })
    const client = rawClient(port)
    client.send(get)
    await expect.poll(() => serving.running).toBe(1)
    expect(await timed(serving.close())).toBeLessThan(1_000)
    expect(await client.whole).toBe('')
    expect(gateway.calls).toEqual(['GET /', 'drain', 'close'])
  })

  test.each([
    ['hangs', () => new Promise<void>(() => {})],
    ['fails', () => Promise.reject(new Error('disk full'))],
  ])('a host whose gateway %s while it closes still closes, with a log line', async (_, close) => {
    const gateway = stubGateway(() => text('never'), { close })
    const { serving } = await served(gateway, { shutdown: { flush: 20 } })
    expect(await timed(serving.close())).toBeLessThan(1_000)
    expect(gateway.lines).toMatchObject([{ message: 'shutting down' }, { level: 'error' }])
  })

  test('closing twice closes once', async () => {
    const gateway = stubGateway(() => text('never'))
    const { serving } = await served(gateway)
    await Promise.all([serving.close(), serving.close()])
    await serving.close()
    expect(gateway.calls).toEqual(['close'])
  })
})

test('serve rejects when the port is in use', async () => {
  const { port } = await served(stubGateway(() => text('answer')))
  await expect(
    served(
      stubGateway(() => text('answer')),
      { port },
    ),
  ).rejects.toMatchObject({
    code: 'EADDRINUSE',
  })
})
