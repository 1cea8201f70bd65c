import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bytes } from '../../src/core/ids.ts'
import { bundlePath } from '../bundle.ts'
import { residentMegabytes } from '../measure.ts'
import { freePort, getPid, isHealthy, startNode, stop, waitUntil } from '../processes.ts'

/** What the gateway holds for each stream that is open and silent. */
export interface OpenStreams {
  readonly count: number
  /** Resident memory of the gateway for each stream, both of its sockets included. */
  readonly bytes: Bytes
}

/** Opens streams through a gateway until all of them have sent a frame, and measures its memory. */
export async function measureOpenStreams(count: number): Promise<OpenStreams> {
  const vendor = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(frame)
  })
  vendor.listen(0, '127.0.0.1')
  await once(vendor, 'listening')
  // A server that listens on TCP has an address with a port.
  const { port: vendorPort } = vendor.address() as AddressInfo
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'gateway-scale-'))
  writeFileSync(join(folder, 'config.toml'), config(port, vendorPort))
  const gateway = startNode([bundlePath], { cwd: folder })
  try {
    await waitUntil(() => isHealthy(port), gateway)
    // The first streams compile the code and fill the pools.
    await close(await openStreams(port, 100))
    await sleep(settleMs)
    const idle = residentMegabytes(getPid(gateway))
    const sockets = await openStreams(port, count)
    await sleep(settleMs)
    const bytes = ((residentMegabytes(getPid(gateway)) - idle) * 1e6) / count
    await close(sockets)
    return { count, bytes }
  } finally {
    await stop(gateway)
    vendor.closeAllConnections()
    vendor.close()
    rmSync(folder, { recursive: true })
  }
}

/** Time for garbage collection to run before memory is read. */
const settleMs = 2_000

async function openStreams(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = []
  // In groups, because a listener queues a limited number of connections.
  for (let opened = 0; opened < count; opened += 100) {
    const group = Array.from({ length: Math.min(100, count - opened) }, () => openStream(port))
    sockets.push(...(await Promise.all(group)))
  }
  return sockets
}

async function openStream(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => socket.destroy())
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  let received = ''
  while (!received.includes('data: ')) {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    received += chunk.toString('latin1')
    if (!received.startsWith('HTTP/1.1 200')) throw new Error(received)
  }
  return socket
}

async function close(sockets: readonly Socket[]): Promise<void> {
  await Promise.all(
    sockets.map((socket) => {
      socket.destroy()
      return once(socket, 'close')
    }),
  )
}

const body = JSON.stringify({
  model: 'bench',
  stream: true,
  messages: [{ role: 'user', content: 'Count slowly.' }],
})

const chunk = {
  id: 'c',
  created: 1,
  model: 'm',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { role: 'assistant', content: 'one' }, finish_reason: null }],
}
const frame = `data: ${JSON.stringify(chunk)}\n\n`

function config(port: number, vendorPort: number): string {
  return `
log_format = "json"
[server]
port = ${port}
[[providers]]
name = "vendor"
kind = "openai"
base_url = "http://127.0.0.1:${vendorPort}/v1"
models = [{ id = "bench" }]
`
}
