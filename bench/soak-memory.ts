/**
 * The part of `npm run soak` about memory: a gateway with a heap of 512 MiB, and at the same time 1,000
 * clients that read their streams slowly, 64 upstreams that send millions of blank lines, and 64
 * clients that never send the last byte of a 10 MiB body. Twice. The buffered bytes stay under one limit,
 * and their memory is freed when the clients leave; exits with 1 otherwise.
 *
 * `--readers 100` for a shorter run.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { buildBundle, bundlePath } from './bundle.ts'
import { freePort, isHealthy, startNode, stopAll, stopAllAtExit, waitUntil } from './processes.ts'

const { values: options } = parseArgs({ options: { readers: { type: 'string', default: '1000' } } })
const readers = Number(options.readers)
const others = 64
const MiB = 1024 * 1024
/** Limits of the gateway's heap and of `server.buffer_limit`, in MiB. */
const heap = 512
const bound = 128
/** Limits of the whole process at its peak, and of JavaScript after all clients have left, in MiB. */
const maxResident = 700
const maxUsed = 48

const streamLength = 7.5 * MiB
const bodyLength = 10 * MiB
const choices = [{ index: 0, delta: { content: 'word '.repeat(200) }, finish_reason: null }]
const words = `data: ${JSON.stringify({ id: 'c', created: 1, model: 'm', choices })}\n\n`

stopAllAtExit()
if (!buildBundle()) throw new Error('the gateway cannot be built')
const vendor = createServer((call, response) => void answer(call, response))
vendor.listen(0, '127.0.0.1')
const port = await freePort()
const gateway = startGateway()
await waitUntil(() => isHealthy(port), gateway)
await sleep(1_000)
const idle = await memory()
const rounds = [await round(), await round()]
await stopAll()
vendor.closeAllConnections()
vendor.close()

console.log(`bounds     ${bound} MiB for all that waits, ${heap} MiB of heap`)
console.log(`idle       ${inWords(idle)}`)
for (const { most, peak, left } of rounds) {
  console.log(`peak       ${most.toFixed(0)} MiB wait, ${peak.toFixed(0)} MiB resident`)
  console.log(`afterwards ${inWords(left)}`)
}
const isGood = ({ most, peak, left }: Round) =>
  most < bound * 1.05 && peak < maxResident && left.waiting === 0 && left.used < maxUsed
process.exitCode = rounds.every(isGood) ? 0 : 1

/** The gateway's memory as it reports it, in MiB. */
interface Memory {
  /** Buffered bytes for clients, and request bodies. */
  readonly waiting: number
  /** Memory of JavaScript, in the heap and outside. */
  readonly used: number
  /** The whole process, including memory that the C library keeps. */
  readonly resident: number
}

interface Round {
  readonly most: number
  readonly peak: number
  readonly left: Memory
}

async function round(): Promise<Round> {
  const sockets = [
    ...Array.from({ length: readers }, () => client(chat('words'))),
    ...Array.from({ length: others }, () => client(chat('blank lines'))),
    ...Array.from({ length: others }, () => client(unfinished())),
  ]
  const reading = setInterval(() => {
    for (const socket of sockets) socket.read(4096)
  }, 1_000)
  let most = 0
  let peak = 0
  // Until five seconds bring no further change.
  for (let calm = 0; calm < 50; calm++) {
    const { waiting, resident } = await memory()
    if (waiting > most * 1.02) calm = 0
    most = Math.max(most, waiting)
    peak = Math.max(peak, resident)
    await sleep(100)
  }
  clearInterval(reading)
  for (const socket of sockets) socket.destroy()
  await sleep(2_000)
  gateway.kill('SIGUSR2')
  await sleep(2_000)
  return { most, peak, left: await memory() }
}

function startGateway() {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-soak-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const config = `
    [server]
    port = ${port}
    buffer_limit = ${bound * MiB}
    [resilience]
    retry_max_attempts = 1
    circuit_failure_threshold = 1000000
    [[providers]]
    name = "vendor"
    kind = "openai"
    base_url = "http://127.0.0.1:${(vendor.address() as AddressInfo).port}/v1"
    models = [{ id = "m" }]
  `
  writeFileSync(join(folder, 'config.toml'), config)
  // An idle process does not collect garbage.
  const collecting = "process.on('SIGUSR2', () => { for (let round = 0; round < 4; round++) gc() })"
  const preload = ['--import', `data:text/javascript,${encodeURIComponent(collecting)}`]
  const args = [`--max-old-space-size=${heap}`, '--expose-gc', ...preload, bundlePath]
  const env = { PATH: process.env['PATH'], GATEWAY_LOG_LEVEL: 'error' }
  return startNode(args, { cwd: folder, env })
}

async function memory(): Promise<Memory> {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const gauge = (name: string) =>
    Number(new RegExp(`^${name} ([\\d.e+]+)$`, 'm').exec(metrics)?.[1]) / MiB
  return {
    waiting: gauge('gateway_buffered_bytes'),
    used: gauge('nodejs_heap_size_used_bytes') + gauge('nodejs_external_memory_bytes'),
    resident: gauge('process_resident_memory_bytes'),
  }
}

function inWords({ waiting, used, resident }: Memory): string {
  return `${waiting} MiB wait, ${used.toFixed(0)} MiB used, ${resident.toFixed(0)} MiB resident`
}

/** A client that reads only on request. */
function client(request: string | Buffer): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.pause()
  socket.write(request)
  return socket
}

function head(length: number): string {
  return `POST /v1/chat/completions HTTP/1.1\r\nhost: soak\r\ncontent-length: ${length}\r\n\r\n`
}

function chat(content: string): string {
  const body = { model: 'm', stream: true, messages: [{ role: 'user', content }] }
  const text = JSON.stringify(body)
  return head(text.length) + text
}

/** A large request without its last byte. */
function unfinished(): Buffer {
  return Buffer.concat([Buffer.from(head(bodyLength)), Buffer.alloc(bodyLength - 1, ' ')])
}

async function answer(call: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = ''
  for await (const piece of call) body += piece
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  // The gateway may end any of them.
  await pipeline(stream(body.includes('blank lines') ? '\n' : words), response).catch(() => {})
}

function* stream(pattern: string): Generator<string> {
  const piece = pattern.repeat(Math.ceil((64 * 1024) / pattern.length))
  for (let sent = 0; sent < streamLength; sent += piece.length) yield piece
  yield 'data: [DONE]\n\n'
}
