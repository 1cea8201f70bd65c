/**
 * A soak: 20,000 mixed requests over real sockets, a third of them faulted by the upstream or
 * abandoned by the client. Afterwards nothing may leak: no request in flight, no socket
 * to an upstream, no timer, no heap growth. Exits with 1 on a leak.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { nodePorts, serve } from '../adapters/node/index.ts'
import { nodeUpstream } from '../adapters/node/ports/upstream.ts'
import { createGateway } from '../src/index.ts'

const total = 20_000
const warmUp = 4_000
const concurrency = 48
/** Maximum growth of the heap, relative to its size after the warm-up. */
const allowedGrowth = 0.05

setFlagsFromString('--expose_gc')
const collectGarbage: () => void = runInNewContext('gc')

type Outcome = 'complete' | 'refused' | 'cut' | 'abandoned'
type Fault = 'reset' | 'reset in stream' | 'status 503' | 'garbage' | 'no end'

const faults: readonly Fault[] = ['reset', 'reset in stream', 'status 503', 'garbage', 'no end']

const vendor = createServer((call, response) => void answer(call, response))
vendor.listen(0, '127.0.0.1')
await once(vendor, 'listening')
const vendorPort = (vendor.address() as AddressInfo).port

const upstream = nodeUpstream()
const gateway = await createGateway({
  ...nodePorts({}),
  log: undefined,
  upstream: upstream.send,
  config: `
    [resilience]
    retry_base_ms = 1
    retry_max_ms = 2
    circuit_failure_threshold = 1000000
    [[providers]]
    name = "vendor"
    kind = "openai"
    base_url = "http://127.0.0.1:${vendorPort}/v1"
    [[providers.models]]
    id = "first"
    fallbacks = ["second"]
    [[providers.models]]
    id = "second"
  `,
})
const host = await serve(gateway, { host: '127.0.0.1', port: 0 })
const { port } = new URL(host.address)

const outcomes: Record<Outcome, number> = { complete: 0, refused: 0, cut: 0, abandoned: 0 }
await run(warmUp)
const before = await heapUsed()
await run(total - warmUp)
const after = await heapUsed()
await quiet()

const growth = after / before - 1
const left = {
  'requests in flight': gateway.inFlight,
  'answers under way': host.running,
  'sockets to the upstream': upstream.openSockets,
}
await host.close()
upstream.close()
vendor.closeAllConnections()
vendor.close()
await once(vendor, 'close')
await turn()
const timers = process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length

console.log(`requests   ${total}: ${JSON.stringify(outcomes)}`)
console.log(`left       ${JSON.stringify({ ...left, timers })}`)
console.log(
  `heap       ${megabytes(before)} to ${megabytes(after)} MB (${(growth * 100).toFixed(1)} %)`,
)
const clean = [...Object.values(left), timers].every((count) => count === 0)
process.exitCode = clean && growth < allowedGrowth ? 0 : 1

async function run(requests: number): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < requests) outcomes[await ask(next++)]++
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}

/** A third fails on purpose: a sixth faulted by the vendor, a sixth abandoned by the client. */
function ask(index: number): Promise<Outcome> {
  const fault = index % 6 === 1 ? faults[((index / 6) % faults.length) | 0] : undefined
  const abandons = index % 6 === 4
  const stream = index % 2 === 0 || fault === 'reset in stream' || fault === 'no end'
  const body = JSON.stringify({
    model: 'first',
    stream,
    messages: [{ role: 'user', content: abandons ? 'slowly' : (fault ?? 'hello') }],
  })
  return new Promise((resolve) => {
    const call = request(
      { host: '127.0.0.1', port, method: 'POST', path: '/v1/chat/completions', agent: false },
      async (response) => {
        if (abandons) {
          if (stream) await once(response, 'data')
          call.destroy()
          return resolve('abandoned')
        }
        let text = ''
        for await (const piece of response) text += piece
        if (response.statusCode !== 200) resolve('refused')
        else resolve(stream && !text.endsWith('data: [DONE]\n\n') ? 'cut' : 'complete')
      },
    )
    call.on('error', () => resolve('abandoned'))
    if (abandons && !stream) setTimeout(() => call.destroy(), index % 7)
    call.end(body)
  })
}

async function answer(call: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = ''
  for await (const piece of call) body += piece
  const { stream, messages } = JSON.parse(body)
  const order: Fault | 'hello' | 'slowly' = messages[0].content
  response.on('error', () => {})
  switch (order) {
    case 'reset':
      return void call.socket.resetAndDestroy()
    case 'status 503':
      return void response.writeHead(503).end('overloaded')
    case 'garbage':
      return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')
  }
  if (!stream) {
    if (order === 'slowly') await sleep(8)
    const message = { role: 'assistant', content: 'Hello there, whoever you may be.' }
    response.writeHead(200, { 'content-type': 'application/json' })
    return void response.end(
      JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }),
    )
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let frame = 0; frame < 12; frame++) {
    if (response.destroyed) return
    if (frame === 6 && order === 'reset in stream') return void call.socket.resetAndDestroy()
    const choices = [{ index: 0, delta: { content: `word ${frame} ` }, finish_reason: null }]
    response.write(`data: ${JSON.stringify({ id: 'c', created: 1, model: 'm', choices })}\n\n`)
    await (order === 'slowly' ? sleep(4) : turn())
  }
  response.end(order === 'no end' ? undefined : 'data: [DONE]\n\n')
}

/** Waits until idle connections have timed out, for at most ten seconds. */
async function quiet(): Promise<void> {
  for (let tries = 0; tries < 100 && upstream.openSockets > 0; tries++) await sleep(100)
}

async function heapUsed(): Promise<number> {
  for (let tries = 0; tries < 100 && gateway.inFlight > 0; tries++) await sleep(20)
  for (let round = 0; round < 3; round++) {
    collectGarbage()
    await sleep(20)
  }
  return process.memoryUsage().heapUsed
}

function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1)
}
