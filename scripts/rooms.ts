import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  freePort,
  isHealthy,
  repository,
  startNode,
  stop,
  stopAll,
  stopAllAtExit,
  waitUntil,
} from '../bench/processes.ts'
import { hasRedis, startRedis } from '../test/support/redis.ts'

/*
 * Shows that `max_parallel` is exact, and its queue fair: 500 callers on one process, then on three with Redis of which two
 * are killed, and one caller of a group while another group floods. `npm run rooms`
 */

const places = 16
const callers = 500
const callsEach = 3
/** In milliseconds. */
const callTime = 100
const masterKey = '5e'.repeat(32)
const folder = mkdtempSync(join(tmpdir(), 'rooms-'))
stopAllAtExit()

/** What runs at the upstream. */
const upstream = { running: 0, peak: 0, answered: 0, abandoned: 0 }
const answer = JSON.stringify({
  id: 'chatcmpl-a1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 8, completion_tokens: 1, total_tokens: 9 },
})
const server = createServer((incoming, response) => {
  upstream.running++
  upstream.peak = Math.max(upstream.peak, upstream.running)
  incoming.resume()
  const timer = setTimeout(() => {
    upstream.running--
    upstream.answered++
    response.setHeader('content-type', 'application/json').end(answer)
  }, callTime)
  response.once('close', () => {
    if (response.writableFinished || upstream.running === 0) return
    clearTimeout(timer)
    upstream.running--
    upstream.abandoned++
  })
})
server.listen(0, '127.0.0.1')
await new Promise((resolve) => void server.once('listening', resolve))
const { port: upstreamPort } = server.address() as AddressInfo

interface Started {
  readonly port: number
  kill(): Promise<void>
}

async function startGateway(name: string, shared = ''): Promise<Started> {
  const port = await freePort()
  const path = join(folder, `${name}-${port}.toml`)
  writeFileSync(
    path,
    `
    [server]
    port = ${port}
    [auth]
    enabled = true
    db_path = ${JSON.stringify(join(folder, `${name}.db`))}
    ${shared}
    [resilience]
    retry_max_attempts = 1
    [[providers]]
    name = "gpu"
    kind = "vllm"
    base_url = "http://127.0.0.1:${upstreamPort}/v1"
    max_parallel = ${places}
    queue_max = 10000
    queue_ms = 60000
    models = [{ id = "m" }]
    `,
  )
  const env = { ...process.env, GATEWAY_MASTER_KEY: masterKey }
  const child = startNode(['--import', 'tsx', 'adapters/node/main.ts', '--config', path], {
    cwd: repository,
    env,
  })
  await waitUntil(() => isHealthy(port), child)
  return { port, kill: () => stop(child) }
}

const agent = new Agent({ keepAlive: true, maxSockets: 2_000 })

interface Asked {
  readonly port: number
  readonly path: string
  readonly key: string
  readonly body: object
}

interface Reply {
  readonly status: number
  readonly queued: number
  readonly text: string
}

/** Rejects when the gateway was killed. */
function post({ port, path, key, body }: Asked): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const options = { host: '127.0.0.1', port, path, method: 'POST', headers, agent }
    const sent = request(options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part) => {
        text += part
      })
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          queued: Number(response.headers['x-gateway-queued-ms'] ?? 0),
          text,
        }),
      )
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(JSON.stringify(body))
  })
}

async function createKey(port: number, group: string): Promise<string> {
  const admin = { port, key: masterKey }
  const made = await post({ ...admin, path: '/admin/groups', body: { name: group } })
  const { id } = JSON.parse(made.text)
  const body = { name: group, group_id: id }
  return JSON.parse((await post({ ...admin, path: '/admin/keys', body })).text).key
}

const chat = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

/** Sends calls one behind the other, to a living gateway. Returns their statuses. */
async function call(gateways: readonly Started[], key: string, calls: number): Promise<number[]> {
  const statuses: number[] = []
  while (statuses.length < calls) {
    const { port } = gateways[Math.floor(Math.random() * gateways.length)] as Started
    const asked = { port, path: '/v1/chat/completions', key, body: chat }
    const reply = await post(asked).catch(() => undefined)
    if (reply) statuses.push(reply.status)
    else await sleep(50)
  }
  return statuses
}

async function measure(name: string, run: () => Promise<number[][]>): Promise<void> {
  Object.assign(upstream, { peak: 0, answered: 0, abandoned: 0 })
  const began = performance.now()
  const statuses = (await run()).flat()
  const seconds = (performance.now() - began) / 1000
  const ok = statuses.filter((status) => status === 200).length
  const { peak, answered, abandoned } = upstream
  const best = (answered * callTime) / places / 1000
  print(
    `${name}: ${ok} of ${statuses.length} answered in ${seconds.toFixed(1)} s (${best.toFixed(1)} s at full use), ` +
      `at most ${peak} of ${places} at once, ${abandoned} cut off`,
  )
  if (peak > places || ok < statuses.length) process.exitCode = 1
}

/** One caller of a group, while 300 callers of another one never stop. */
async function measureFairness(gateways: readonly Started[], keys: readonly [string, string]) {
  const [flood, rare] = keys
  const over = new AbortController()
  const flooding = Array.from({ length: 300 }, async () => {
    while (!over.signal.aborted) await call(gateways, flood, 1)
  })
  await sleep(500)
  const waits: number[] = []
  for (let at = 0; at < 60; at++) {
    const { port } = gateways[at % gateways.length] as Started
    const { queued } = await post({ port, path: '/v1/chat/completions', key: rare, body: chat })
    waits.push(queued)
  }
  over.abort()
  await Promise.all(flooding)
  waits.sort((a, b) => a - b)
  const find = (share: number) => waits[Math.floor(waits.length * share)] ?? 0
  print(
    `  one caller while another group floods with 300: waits p50 ${find(0.5)} ms, p99 ${find(0.99)} ms; ` +
      `two calls take ${2 * callTime} ms`,
  )
  if (find(0.99) > 2 * callTime) process.exitCode = 1
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

const crowd = (gateways: readonly Started[], key: string) =>
  Promise.all(Array.from({ length: callers }, () => call(gateways, key, callsEach)))

const alone = await startGateway('alone')
const ownKeys = [await createKey(alone.port, 'flood'), await createKey(alone.port, 'rare')] as const
await measure('one process, 500 callers', () => crowd([alone], ownKeys[0]))
await measureFairness([alone], ownKeys)
await alone.kill()

if (hasRedis) {
  const redis = await startRedis()
  const shared = `[shared]\nurl = "${redis.url}"\nlease_ms = 1000`
  const gateways = [
    await startGateway('three', shared),
    await startGateway('three', shared),
    await startGateway('three', shared),
  ]
  const [first] = gateways as [Started]
  const keys = [await createKey(first.port, 'flood'), await createKey(first.port, 'rare')] as const
  await sleep(1_500)
  await measure('three processes, 500 callers', () => crowd(gateways, keys[0]))
  await measureFairness(gateways, keys)
  await measure('three processes, two of them killed', async () => {
    const living = [...gateways]
    const calls = crowd(living, keys[0])
    for (let left = 2; left > 0; left--) {
      await sleep(1_200)
      await living.pop()?.kill()
    }
    return calls
  })
  await stopAll()
  await redis.stop()
}
server.close()
server.closeAllConnections()
agent.destroy()
rmSync(folder, { recursive: true, force: true })
