/**
 * The cost of upstream failures, over real sockets: how soon `/health` responds while 500 requests
 * get only 429, how much a fail-over from a refused connection adds, and how soon an upstream
 * call ends when its client leaves. Exits with 1 when a bound is missed.
 */
import { once } from 'node:events'
import { createServer, request, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { nodePorts, serve } from '../adapters/node/index.ts'
import { createGateway } from '../src/index.ts'
import { quantile } from './measure.ts'

const answer = JSON.stringify({
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
})

let closedAt = 0
const vendor = createServer(async (call, response) => {
  let body = ''
  for await (const piece of call) body += piece
  response.on('close', () => {
    closedAt = performance.now()
  })
  reply(JSON.parse(body).messages[0].content, response)
})
vendor.listen(0, '127.0.0.1')
await once(vendor, 'listening')
const alive = (vendor.address() as AddressInfo).port
const dead = await closedPort()

const gateway = await createGateway({
  ...nodePorts({}),
  log: undefined,
  config: `
    [resilience]
    retry_max_attempts = 1
    circuit_failure_threshold = 1000000
    [[providers]]
    name = "alive"
    kind = "openai"
    base_url = "http://127.0.0.1:${alive}/v1"
    [[providers.models]]
    id = "good"
    [[providers]]
    name = "limited"
    kind = "openai"
    base_url = "http://127.0.0.1:${alive}/v1"
    [[providers.models]]
    id = "limited"
    [[providers]]
    name = "dead"
    kind = "openai"
    base_url = "http://127.0.0.1:${dead}/v1"
    [[providers.models]]
    id = "refused"
    fallbacks = ["good"]
  `,
})
const host = await serve(gateway, { host: '127.0.0.1', port: 0 })

const health = await healthUnderLimits()
const failOver = await failOverCost()
const left = [await leaving(false), await leaving(true)]

const rows = [
  ['/health p99 while 500 requests meet 429', health.p99, 50],
  ['fail-over from a refused connection, median over a direct call', failOver, 20],
  ['upstream closed after the client left, not streamed', left[0] ?? 0, 100],
  ['upstream closed after the client left, streamed', left[1] ?? 0, 100],
] as const
for (const [name, value, bound] of rows) {
  const verdict = value <= bound ? 'met' : 'missed'
  console.log(
    `${name.padEnd(64)} ${value.toFixed(1).padStart(7)} ms  at most ${bound} ms  ${verdict}`,
  )
}
console.log(`memory while 429s rained: ${health.memory.map(megabytes).join(' to ')} MB`)
process.exitCode = rows.every(([, value, bound]) => value <= bound) ? 0 : 1

await host.close()
vendor.closeAllConnections()
vendor.close()

async function healthUnderLimits(): Promise<{ p99: number; memory: number[] }> {
  const stop = AbortSignal.timeout(6_000)
  const worker = async () => {
    while (!stop.aborted) await chat('limited', 'limit')
  }
  const workers = Array.from({ length: 500 }, worker)
  await sleep(2_000)
  const memory = [process.memoryUsage().rss]
  const times: number[] = []
  while (!stop.aborted) {
    const start = performance.now()
    await (await fetch(`${host.address}/health`)).text()
    times.push(performance.now() - start)
    await sleep(5)
  }
  memory.push(process.memoryUsage().rss)
  await Promise.all(workers)
  return { p99: quantile(times, 0.99), memory }
}

async function failOverCost(): Promise<number> {
  const differences: number[] = []
  for (let round = 0; round < 60; round++) {
    const direct = await timed('good')
    const around = await timed('refused')
    // The first rounds warm up.
    if (round >= 10) differences.push(around - direct)
  }
  return quantile(differences, 0.5)
}

async function timed(model: string): Promise<number> {
  const start = performance.now()
  if ((await chat(model, 'hello')) !== 200) throw new Error(`${model} did not answer`)
  return performance.now() - start
}

async function leaving(stream: boolean): Promise<number> {
  const call = send('good', 'hang', stream)
  call.on('error', () => {})
  if (stream) {
    const [response] = await once(call, 'response')
    await once(response, 'data')
  } else await sleep(200)
  const gone = performance.now()
  call.destroy()
  await sleep(500)
  return closedAt - gone
}

async function chat(model: string, content: string): Promise<number> {
  const [response] = await once(send(model, content, false), 'response')
  response.resume()
  await once(response, 'end')
  return response.statusCode
}

function send(model: string, content: string, stream: boolean) {
  const { hostname, port } = new URL(host.address)
  const call = request({
    hostname,
    port,
    method: 'POST',
    path: '/v1/chat/completions',
    agent: false,
  })
  call.end(JSON.stringify({ model, stream, messages: [{ role: 'user', content }] }))
  return call
}

function reply(order: string, response: ServerResponse): void {
  if (order === 'limit') {
    response.writeHead(429).end('{"error":{"message":"slow down"}}')
  } else if (order === 'hang') {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n')
  } else {
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
  }
}

/** Returns a port without a listener. */
async function closedPort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(0)
}
