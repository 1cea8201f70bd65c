/**
 * `npx tsx bench/embeddings.ts`: 2,048 vectors of 1,536 numbers through the gateway, as floats and
 * as base64. Upstream, gateway and client are processes of their own.
 *
 * - `read`: answers a second to a client that only reads the bytes.
 * - `use`: the same to a client that makes numbers of them, as the official SDK does.
 * - `cpu`: what the gateway's process used for one answer, all threads.
 * - `stall`: the longest that the gateway's event loop was held up in a run, garbage collection
 *   included; the median of the runs. On a busy machine other processes hold it up too, so `busy`
 *   tells what the gateway itself used of the processor in the longest turn of its loop.
 * - `memory`: what the gateway's process grew by at its peak, from the first answer on, against the
 *   size of the answer.
 */

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { nodePorts, serve } from '../adapters/node/index.ts'
import { createGateway } from '../src/index.ts'
import { median } from './measure.ts'
import { startScript, stop, stopAll, stopAllAtExit } from './processes.ts'

const items = 2048
const dimensions = 1536
const encodings = ['float', 'base64'] as const

type Encoding = (typeof encodings)[number]

/** What the gateway's process tells when it is asked. */
interface Vitals {
  readonly stall: number
  readonly busy: number
  readonly cpu: number
  readonly memory: number
  readonly peak: number
}

const { values: options } = parseArgs({
  options: {
    role: { type: 'string', default: 'client' },
    upstream: { type: 'string', default: '' },
    runs: { type: 'string', default: '5' },
    connections: { type: 'string', default: '1' },
  },
})

switch (options.role) {
  case 'upstream':
    await runUpstream()
    break
  case 'gateway':
    await runGateway(options.upstream)
    break
  default:
    await runClient()
}

async function runClient(): Promise<void> {
  stopAllAtExit()
  const upstream = startScript('embeddings', ['--role', 'upstream'])
  const upstreamPort = (await said(upstream)) as number
  const results = []
  for (const encoding of encodings) results.push(await measure(encoding, upstreamPort))
  await stopAll()
  console.table(results)
  const [float, base64] = results
  if (!float || !base64) return
  console.log(`base64 against float, read: ${(base64.read / float.read).toFixed(2)} x`)
  console.log(`base64 against float, use: ${(base64.use / float.use).toFixed(2)} x (at least 2)`)
  process.exit()
}

async function measure(encoding: Encoding, upstreamPort: number) {
  const gateway = startScript('embeddings', ['--role', 'gateway', '--upstream', `${upstreamPort}`])
  const port = (await said(gateway)) as number
  const vitals = () => {
    gateway.send('vitals')
    return said(gateway) as Promise<Vitals>
  }
  // Enough for the compiler, too little to grow.
  for (let run = 0; run < 20; run++) await post(port, encoding, 32)
  const { memory: idle } = await vitals()
  const read: number[] = []
  const use: number[] = []
  const lives: Vitals[] = []
  let size = 0
  for (let run = 0; run < Number(options.runs); run++) {
    const begun = performance.now()
    const body = await post(port, encoding, items)
    const got = performance.now()
    numbersOf(body, encoding)
    read.push(got - begun)
    use.push(performance.now() - begun)
    size = body.length
    lives.push(await vitals())
  }
  await stop(gateway)
  const peak = Math.max(...lives.map((life) => life.peak))
  return {
    encoding,
    read: rounded(1000 / median(read)),
    use: rounded(1000 / median(use)),
    'cpu ms': rounded(median(lives.map((life) => life.cpu))),
    'stall ms (at most 50)': rounded(median(lives.map((life) => life.stall))),
    'busy ms': rounded(median(lives.map((life) => life.busy))),
    'answer MB': rounded(size / 1e6),
    'memory MB': rounded((peak - idle) / 1e6),
    'memory / answer (under 6)': rounded((peak - idle) / size),
  }
}

async function said(child: ChildProcess): Promise<unknown> {
  const [message] = await once(child, 'message')
  return message
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}

async function post(port: number, encoding: Encoding, count: number): Promise<Buffer> {
  const body = JSON.stringify({
    model: 'm',
    input: Array.from({ length: count }, (_, index) => `text number ${index}`),
    encoding_format: encoding,
  })
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/v1/embeddings',
    headers: { 'content-length': Buffer.byteLength(body) },
  })
  request.end(body)
  const [response] = await once(request, 'response')
  const pieces: Buffer[] = []
  for await (const piece of response) pieces.push(piece)
  const answer = Buffer.concat(pieces)
  if (response.statusCode !== 200) throw new Error(answer.toString())
  return answer
}

/** As the official SDK does it. */
function numbersOf(body: Buffer, encoding: Encoding): number[][] {
  const { data } = JSON.parse(body.toString()) as { data: { embedding: string & number[] }[] }
  if (encoding === 'float') return data.map(({ embedding }) => embedding)
  return data.map(({ embedding }) => {
    const { buffer, byteOffset, length } = Buffer.from(embedding, 'base64')
    return Array.from(new Float32Array(buffer, byteOffset, length / 4))
  })
}

async function runGateway(upstreamPort: string): Promise<void> {
  process.once('disconnect', () => process.exit())
  const gateway = await createGateway({
    ...nodePorts({ GATEWAY_LOG_LEVEL: 'error' }),
    config: `
[[providers]]
name = "upstream"
kind = "openai"
base_url = "http://127.0.0.1:${upstreamPort}/v1"
[[providers.models]]
id = "m"
capabilities = ["embed"]
`,
  })
  const host = await serve(gateway, { port: 0 })
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  let busy = 0
  let turn = process.cpuUsage()
  setInterval(() => {
    const { user, system } = process.cpuUsage(turn)
    busy = Math.max(busy, (user + system) / 1000)
    turn = process.cpuUsage()
  }, 1)
  let before = process.cpuUsage()
  process.on('message', () => {
    const { user, system } = process.cpuUsage(before)
    const vitals: Vitals = {
      stall: delay.max / 1e6,
      busy,
      cpu: (user + system) / 1000,
      memory: process.memoryUsage.rss(),
      peak: process.resourceUsage().maxRSS * 1024,
    }
    process.send?.(vitals, () => {
      delay.reset()
      busy = 0
      before = process.cpuUsage()
    })
  })
  process.send?.(Number(new URL(host.address).port))
}

async function runUpstream(): Promise<void> {
  process.once('disconnect', () => process.exit())
  const vectors = Array.from({ length: items }, () =>
    Array.from({ length: dimensions }, () =>
      Math.fround(Math.random() - 0.5).toPrecision(8),
    ).join(),
  )
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const { input } = JSON.parse(Buffer.concat(pieces).toString()) as { input: string[] }
    const data = input.map(
      (_, index) => `{"object":"embedding","index":${index},"embedding":[${vectors[index]}]}`,
    )
    response.setHeader('content-type', 'application/json')
    response.end(
      `{"object":"list","data":[${data.join()}],"usage":{"prompt_tokens":9,"total_tokens":9}}`,
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A TCP server that listens has an address with a port.
  process.send?.((server.address() as AddressInfo).port)
}
