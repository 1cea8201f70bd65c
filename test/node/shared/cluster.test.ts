import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openRedisState } from '../../../adapters/node/shared/redis-state.ts'
import { findMove, findRefusal } from '../../../adapters/node/shared/server-check.ts'
import type { SharedState } from '../../../src/index.ts'
import { RecordingLog } from '../../accounting/support.ts'
import { findFreePort, hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'

/** Starts a node of a cluster until the test ends. */
async function startNode(): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-cluster-'))
  const bus = String(await findFreePort())
  const settings = ['--cluster-enabled', 'yes', '--cluster-port', bus, '--dir', folder]
  const node = await startRedis(...settings, '--cluster-node-timeout', '2000')
  onTestFinished(async () => {
    await node.stop()
    rmSync(folder, { recursive: true })
  })
  node.command('CONFIG', 'SET', 'cluster-announce-ip', '127.0.0.1')
  return node
}

/** Starts a node that has all slots, and its replica. */
async function startCluster() {
  const [first, second] = [await startNode(), await startNode()]
  first.command('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
  const [, bus] = /@(\d+)/.exec(first.command('CLUSTER', 'NODES')) ?? []
  second.command('CLUSTER', 'MEET', '127.0.0.1', String(first.port), String(bus))
  const id = first.command('CLUSTER', 'MYID')
  await expect
    .poll(() => second.command('CLUSTER', 'REPLICATE', id), { timeout: 10_000 })
    .toBe('OK')
  await expect
    .poll(() => second.command('INFO', 'replication'), { timeout: 10_000 })
    .toContain('master_link_status:up')
  return { first, second }
}

async function open({ url }: RedisServer, log = new RecordingLog()): Promise<SharedState> {
  const state = await openRedisState({ url, prefix: 'test', log })
  onTestFinished(() => state.close())
  return state
}

const begin = (state: SharedState, epoch: string) =>
  state.batch({ name: 'open', args: () => ['process', epoch] })

describe.skipIf(!hasRedis)('a Redis Cluster', () => {
  test('the node that has the state is used, whichever node is named, and after it has failed over', async () => {
    const { first, second } = await startCluster()
    const log = new RecordingLog()
    const state = await open(second, log)
    const received: string[] = []
    state.subscribe('news', (message) => received.push(message))
    await expect.poll(() => state.isUp).toBe(true)
    expect((await begin(state, 'one'))[1]).toBe('one')
    expect(first.command('EXISTS', '{test}:epoch')).toBe('1')

    second.command('CLUSTER', 'FAILOVER')
    await expect.poll(() => second.command('ROLE'), { timeout: 10_000 }).toMatch(/^master/)
    await expect
      .poll(
        () =>
          begin(state, 'two').then(
            ([, epoch]) => epoch,
            () => '',
          ),
        { timeout: 10_000 },
      )
      .toBe('one')
    await expect
      .poll(async () => {
        await state.publish('news', 'hello')
        return received.length
      })
      .toBeGreaterThan(0)

    await second.stop()
    await expect.poll(() => state.isUp).toBe(false)
    first.command('CLUSTER', 'FAILOVER', 'TAKEOVER')
    // Back at the address of the settings: it is there again, and knows who has the state.
    await second.start()
    await expect.poll(() => state.isUp, { timeout: 15_000 }).toBe(true)
    expect((await begin(state, 'three'))[1]).toBe('one')
  })
})

test('the errors of a cluster say where the state is, or that it is on its way', () => {
  expect(findMove(new Error('MOVED 3999 10.0.0.7:6381'))).toEqual({ host: '10.0.0.7', port: 6381 })
  expect(findMove(new Error('MOVED 3999 2001:db8::1:6381'))).toEqual({
    host: '2001:db8::1',
    port: 6381,
  })
  expect(findMove(new Error('MOVED 3999 :6381'))).toEqual({ port: 6381 })
  expect(findMove(new Error('ASK 3999 10.0.0.7:6381'))).toBeUndefined()
  expect(findRefusal(new Error('ASK 3999 10.0.0.7:6381'))).toBe('ASK')
})
