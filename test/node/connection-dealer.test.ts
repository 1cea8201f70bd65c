import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { AddressLimit } from '../../adapters/node/http/address-limit.ts'
import { Channel, type Peer } from '../../adapters/node/workers/channel.ts'
import { ConnectionDealer } from '../../adapters/node/workers/connection-dealer.ts'
import type { FromPrimary, FromWorker } from '../../adapters/node/workers/messages.ts'
import { Turns } from '../../adapters/node/workers/turns.ts'

/** A worker without a process: it records what it gets, and answers when the test says so. */
function fakeWorker() {
  let receive: (message: unknown, handle: unknown) => void = () => {}
  const offered: number[] = []
  const notify = (name: string, value?: unknown) =>
    receive({ kind: 'notice', name, value }, undefined)
  const peer: Peer = {
    connected: true,
    send(packet: { readonly value: number }) {
      offered.push(packet.value)
      return true
    },
    on(event: string, listener: () => void) {
      if (event === 'message') receive = listener
    },
  } as Peer
  return {
    offered,
    channel: new Channel<FromPrimary, FromWorker>(peer),
    take: () => notify('taken', offered.at(-1)),
    close: (id: number | undefined) => notify('closed', id),
    stop: () => notify('stopped'),
  }
}

async function dealer(maxPerAddress = 0) {
  const stops: string[] = []
  const addresses = new AddressLimit({ maxPerAddress: () => maxPerAddress, warn() {} })
  const onStopped = () => void stops.push('stopped')
  const created = new ConnectionDealer({ addresses, maxWaiting: 3, onStopped })
  const sockets: Socket[] = []
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    sockets.push(socket)
    created.add(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    created.close()
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as { port: number }
  return {
    dealer: created,
    stops,
    sockets,
    async connect() {
      const before = sockets.length
      const client = connect(port, '127.0.0.1')
      client.on('error', () => {})
      onTestFinished(() => void client.destroy())
      await expect.poll(() => sockets.length).toBe(before + 1)
      return client
    },
  }
}

describe('a new connection', () => {
  test('goes to the worker that has the fewest', async () => {
    const host = await dealer()
    const [first, second] = [fakeWorker(), fakeWorker()]
    host.dealer.join(first.channel)
    host.dealer.join(second.channel)
    for (const worker of [first, second, first, second]) {
      await host.connect()
      worker.take()
    }
    expect([first.offered, second.offered]).toEqual([
      [1, 3],
      [2, 4],
    ])
    second.close(2)
    second.close(4)
    await host.connect()
    expect(second.offered).toEqual([2, 4, 5])
  })

  test('waits while every worker has one that it has not taken', async () => {
    const host = await dealer()
    const worker = fakeWorker()
    host.dealer.join(worker.channel)
    await host.connect()
    await host.connect()
    expect(worker.offered).toEqual([1])
    worker.take()
    expect(worker.offered).toEqual([1, 2])
  })

  test('goes to another worker when the first one ends before it has taken it', async () => {
    const host = await dealer()
    const [first, second] = [fakeWorker(), fakeWorker()]
    const leave = host.dealer.join(first.channel)
    await host.connect()
    host.dealer.join(second.channel)
    expect(second.offered).toEqual([])
    leave()
    expect(second.offered).toEqual([1])
    expect(host.sockets[0]?.destroyed).toBe(false)
  })

  test('is closed when too many wait', async () => {
    const host = await dealer()
    for (let each = 0; each < 4; each++) await host.connect()
    expect(host.sockets.map(({ destroyed }) => destroyed)).toEqual([false, false, false, true])
  })

  test('counts for its address until its worker has closed it or has ended', async () => {
    const host = await dealer(2)
    const worker = fakeWorker()
    const leave = host.dealer.join(worker.channel)
    for (let each = 0; each < 2; each++) {
      await host.connect()
      worker.take()
    }
    await host.connect()
    expect(worker.offered).toEqual([1, 2])
    worker.close(1)
    await host.connect()
    worker.take()
    expect(worker.offered).toEqual([1, 2, 3])
    leave()
    const other = fakeWorker()
    host.dealer.join(other.channel)
    await host.connect()
    expect(other.offered).toEqual([4])
  })
})

test('the port closes when the last worker stops', async () => {
  const { dealer: created, stops } = await dealer()
  const [first, second] = [fakeWorker(), fakeWorker()]
  created.join(first.channel)
  created.join(second.channel)
  first.stop()
  expect(stops).toEqual([])
  second.stop()
  expect(stops).toEqual(['stopped'])
})

test('turns go round in the order of the requests, and pass on when a holder is gone', async () => {
  const turns = new Turns<string>()
  const granted: string[] = []
  for (const name of ['a', 'b', 'c', 'b']) void turns.take(name).then(() => granted.push(name))
  await expect.poll(() => granted).toEqual(['a'])
  turns.end('b')
  turns.leave('b')
  expect(granted).toEqual(['a'])
  turns.end('a')
  await expect.poll(() => granted).toEqual(['a', 'c'])
  turns.leave('c')
  await turns.take('d')
})
