import { url } from 'node:inspector'
import { expect, onTestFinished, test } from 'vitest'
import { collectGarbage, releaseIdleMemory } from '../../adapters/node/host/idle-memory.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { rawClient } from './support/raw-client.ts'
import { deferred } from './support/servers.ts'
import { served, stubGateway, text } from './support/stub-gateway.ts'

const megabyte = 1024 * 1024
const get = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'

/** Serves requests that end with `finish`, in a process whose memory the test sets. */
async function idleHost(collect = async () => {}) {
  const finish = deferred()
  const { port, serving } = await served(
    stubGateway(async () => {
      await finish.promise
      return text('answer')
    }),
  )
  const clock = new ManualClock()
  const host = { clock, port, serving, finish, megabytes: 100, used: 0, collections: 0 }
  const idleMemory = releaseIdleMemory({
    serving,
    clock,
    readResident: () => host.megabytes * megabyte,
    readProcessorTime: () => host.used,
    async collect() {
      host.collections++
      await collect()
      host.megabytes = 110
    },
  })
  onTestFinished(() => idleMemory.close())
  return { ...idleMemory, host }
}

test('an idle process that has grown by 32 MB collects once', async () => {
  const { host } = await idleHost()
  host.megabytes = 131
  await host.clock.advance(100_000)
  expect(host.collections).toBe(0)
  host.megabytes = 132
  await host.clock.advance(20_000)
  expect(host.collections).toBe(1)
  host.megabytes = 141
  await host.clock.advance(100_000)
  expect(host.collections).toBe(1)
  host.megabytes = 142
  await host.clock.advance(20_000)
  expect(host.collections).toBe(2)
})

test('growth counts from the smallest size', async () => {
  const { host } = await idleHost()
  host.megabytes = 80
  await host.clock.advance(20_000)
  host.megabytes = 112
  await host.clock.advance(20_000)
  expect(host.collections).toBe(1)
})

test('a running request holds a collection off', async () => {
  const { host } = await idleHost()
  host.megabytes = 200
  const client = rawClient(host.port)
  client.send(get)
  await expect.poll(() => host.serving.running).toBe(1)
  await host.clock.advance(100_000)
  expect(host.collections).toBe(0)
  host.finish.resolve()
  await client.whole
  await expect.poll(() => host.serving.running).toBe(0)
  await host.clock.advance(20_000)
  expect(host.collections).toBe(1)
})

test('work between two checks holds a collection off, health checks do not', async () => {
  const { host } = await idleHost()
  host.megabytes = 200
  host.used += 401
  await host.clock.advance(20_000)
  expect(host.collections).toBe(0)
  host.used += 400
  await host.clock.advance(20_000)
  expect(host.collections).toBe(1)
})

test('nothing is collected after the end', async () => {
  const { host, close } = await idleHost()
  host.megabytes = 200
  close()
  expect(host.clock.pending).toBe(0)
  await host.clock.advance(100_000)
  expect(host.collections).toBe(0)
})

test('a collection that the end interrupts is the last one', async () => {
  const collected = deferred()
  const { host, close } = await idleHost(() => collected.promise)
  host.megabytes = 200
  await host.clock.advance(20_000)
  close()
  collected.resolve()
  await host.clock.advance(100_000)
  expect(host.collections).toBe(1)
  expect(host.clock.pending).toBe(0)
})

test('a Node that cannot collect is asked once', async () => {
  const { host } = await idleHost(() => Promise.reject(new Error('no inspector')))
  host.megabytes = 200
  await host.clock.advance(100_000)
  expect(host.collections).toBe(1)
  expect(host.clock.pending).toBe(0)
})

test('a collection frees what nothing refers to, and opens no inspector', async () => {
  const garbage = new WeakRef({})
  // The object of a WeakRef stays until its task has ended.
  await new Promise((resolve) => setImmediate(resolve))
  await collectGarbage()
  expect(garbage.deref()).toBeUndefined()
  expect(url()).toBeUndefined()
})
