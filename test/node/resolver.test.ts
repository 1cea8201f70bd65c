import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createResolver } from '../../adapters/node/upstream/resolver.ts'
import { LightAbortController } from '../../src/wire/light-abort-controller.ts'
import { activeTime, httpServer, timed } from './support/servers.ts'
import { call, failure, upstream, whole } from './support/upstream.ts'

interface Records {
  readonly v4?: string
  readonly v6?: string
}

/** A name server on 127.0.0.1. It does not answer at all for names that it knows nothing of. */
async function nameServer(known: Readonly<Record<string, Records | 'unknown'>>) {
  const asked: string[] = []
  const socket = createSocket('udp4')
  onTestFinished(() => {
    socket.close()
  })
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionOf(query)
    asked.push(name)
    const records = known[name]
    if (!records) return
    socket.send(answerTo(query.subarray(0, end), type, records), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { asked, servers: [`127.0.0.1:${socket.address().port}`], hosts: '/nowhere' }
}

function questionOf(query: Buffer) {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 }
}

/** RFC 1035, section 4. */
function answerTo(question: Buffer, type: number, records: Records | 'unknown'): Buffer {
  const head = Buffer.from(question)
  const noSuchName = 3
  head.writeUInt16BE(0x8180 + (records === 'unknown' ? noSuchName : 0), 2)
  head.writeUInt32BE(0, 8)
  const address = records === 'unknown' ? undefined : type === 1 ? records.v4 : records.v6
  head.writeUInt16BE(address === undefined ? 0 : 1, 6)
  if (address === undefined) return head
  const bytes =
    type === 1
      ? Buffer.from(address.split('.').map(Number))
      : Buffer.from(
          address
            .split(':')
            .map((part) => part.padStart(4, '0'))
            .join(''),
          'hex',
        )
  const record = Buffer.alloc(12)
  record.writeUInt16BE(0xc00c, 0)
  record.writeUInt16BE(type, 2)
  record.writeUInt16BE(1, 4)
  record.writeUInt32BE(60, 6)
  record.writeUInt16BE(bytes.length, 10)
  return Buffer.concat([head, record, bytes])
}

const v6 = '2001:db8:0:0:0:0:0:1'

describe('resolving a name', () => {
  test('all IPv4 and IPv6 addresses of the name server are returned', async () => {
    const server = await nameServer({
      'both.test': { v4: '192.0.2.1', v6 },
      'old.test': { v4: '192.0.2.2' },
      'new.test': { v6 },
    })
    const resolve = createResolver(server)
    const signal = new LightAbortController()
    expect(await resolve('both.test', signal)).toEqual(['192.0.2.1', '2001:db8::1'])
    expect(await resolve('OLD.test.', signal)).toEqual(['192.0.2.2'])
    expect(await resolve('new.test', signal)).toEqual(['2001:db8::1'])
  })

  test('the addresses of the hosts file are returned if it lists the name', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-hosts-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const hosts = join(folder, 'hosts')
    writeFileSync(
      hosts,
      '# 192.0.2.9 a.test\n192.0.2.1\tb.test A.test # here\r\n2001:db8::1 a.test\n',
    )
    const server = await nameServer({ 'c.test': 'unknown' })
    const resolve = createResolver({ ...server, hosts })
    expect(await resolve('a.test', new LightAbortController())).toEqual([
      '192.0.2.1',
      '2001:db8::1',
    ])
    expect(await failure(resolve('c.test', new LightAbortController()))).toMatchObject({
      reason: 'ENOTFOUND',
    })
    expect(new Set(server.asked)).toEqual(new Set(['c.test']))
  })

  test('a name that does not exist is a failure with its code', async () => {
    const server = await nameServer({ 'none.test': 'unknown', 'empty.test': {} })
    const resolve = createResolver(server)
    expect(await failure(resolve('none.test', new LightAbortController()))).toEqual({
      kind: 'network',
      reason: 'ENOTFOUND',
      phase: 'connecting',
    })
    expect(await failure(resolve('empty.test', new LightAbortController()))).toMatchObject({
      reason: 'ENODATA',
    })
  })
})

describe('a name server that does not respond', () => {
  test('an aborted look-up does not wait for a silent name server', async () => {
    const signal = new LightAbortController()
    const outcome = failure(createResolver(await nameServer({}))('slow.test', signal))
    await new Promise((resolve) => setTimeout(resolve, 50))
    signal.abort()
    expect(await activeTime(outcome)).toBeLessThan(100)
    expect(await outcome).toMatchObject({ kind: 'network', reason: 'ECANCELLED' })
    const late = createResolver(await nameServer({}))('slow.test', signal)
    expect(await failure(late)).toMatchObject({ reason: 'aborted' })
  })

  test('a silent name server delays no other name', async () => {
    const resolve = createResolver(await nameServer({}))
    const signal = new LightAbortController()
    const slow = Array.from({ length: 16 }, (_, i) => failure(resolve(`slow${i}.test`, signal)))
    const { port } = await httpServer((_, response) => response.end('ok'))
    const answer = call(upstream(), { url: `http://localhost:${port}` }).then(whole)
    expect(await timed(answer)).toBeLessThan(1_000)
    expect(await answer).toBe('ok')
    signal.abort()
    await Promise.all(slow)
  })
})
