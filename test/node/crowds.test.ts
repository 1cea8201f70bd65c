import { request } from 'node:http'
import { expect, test, vi } from 'vitest'
import { completion } from '../support/answers.ts'
import { type Door, doorPaths, hostileBodies } from '../support/hostile-bodies.ts'
import { built, type Command, command, finished } from './support/command.ts'
import { httpServer } from './support/servers.ts'
import { freePort } from './support/shipped-gateway.ts'
import { parseMaxTurn, watchingTurns } from './support/turns.ts'

/** A gateway with little memory, and an upstream that takes so many milliseconds for each answer. */
async function smallGateway(delay: number) {
  const upstream = await httpServer((call, response) => {
    call.resume()
    call.once('end', () => {
      setTimeout(() => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify(completion()))
      }, delay)
    })
  })
  const gateway = command(['--max-old-space-size=512', ...watchingTurns, built.executable], {
    env: { GATEWAY_LOG_FORMAT: 'json', GATEWAY_SERVER__PORT: String(await freePort()) },
    config: `
      [resilience]
      retry_max_attempts = 1
      circuit_failure_threshold = 1000000
      [[providers]]
      name = "p"
      kind = "vllm"
      base_url = "${upstream.url}"
      [[providers.models]]
      id = "m"
      capabilities = ["chat", "embed", "rerank"]
      modalities = ["text", "image"]
    `,
  })
  const [, address = ''] = await gateway.until(/"address":"([^"]+)"/)
  // The turns before this one have loaded its modules.
  gateway.process.kill('SIGUSR2')
  return { gateway, address }
}

/** The status of the answer; 0 where there is none. */
function post(address: string, body: Uint8Array): Promise<number> {
  return new Promise((resolve) => {
    const headers = { 'content-length': body.length }
    const call = request(address, { method: 'POST', headers, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    call.on('error', () => resolve(0))
    call.end(body)
  })
}

/** In milliseconds. On an idle machine it is a fifth of that. */
const longestTurn = 600

/** The gateway still serves, holds nothing any longer, and was never busy for long. */
async function expectUnharmed({ gateway, address }: { gateway: Command; address: string }) {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
  expect(await post(`${address}${doorPaths.chat}`, Buffer.from(body))).toBe(200)
  await vi.waitFor(async () => {
    const metrics = await (await fetch(`${address}/metrics`)).text()
    expect(metrics).toContain('gateway_buffered_bytes 0')
  }, 5_000)
  gateway.process.kill('SIGTERM')
  const ended = await finished(gateway)
  expect(ended.code).toBe(0)
  expect(parseMaxTurn(ended)).toBeLessThan(longestTurn)
}

const crowd = 40

/** What the gateway parses and forwards: nothing takes more of its memory. */
const heaviest: readonly (readonly [Door, string])[] = [
  ...(['chat', 'embeddings', 'rerank'] as const).flatMap((door) =>
    ['numbers', 'as many different objects as may be', 'as many texts as may be'].map(
      (name) => [door, name] as const,
    ),
  ),
  ['chat', 'one long text of NULs'],
  ['chat', 'deep arrays that end'],
  ['chat', 'as many tools as may be at chat'],
  ['chat', 'as many images as may be at chat'],
  ['chat', 'as many messages with calls as may be at chat'],
  ['chat', 'a wrong part behind all others at chat'],
  ['embeddings', 'token ids at embeddings'],
  ['embeddings', 'arrays of token ids at embeddings'],
  ['embeddings', 'texts at embeddings'],
  ['rerank', 'documents at rerank'],
  ['rerank', 'documents of many members at rerank'],
]

test('forty hostile bodies at once neither crash nor block a process with a heap of 512 MB', async () => {
  const served = await smallGateway(50)
  const bodies = heaviest.map(([door, name]) => {
    const found = hostileBodies.find((body) => body.door === door && body.name === name)
    if (!found) throw new Error(`there is no body of this name: ${name}`)
    return { address: served.address + doorPaths[door], bytes: found.body() }
  })
  expect(bodies).toHaveLength(crowd / 2)
  const statuses = await Promise.all(
    [...bodies, ...bodies].map(({ address, bytes }) => post(address, bytes)),
  )
  // 502: the upstream does not answer embeddings and rerank.
  expect(statuses.filter((status) => ![200, 400, 502].includes(status))).toEqual([])
  await expectUnharmed(served)
}, 120_000)

test('forty images of 9 MB at once are all served by a slow upstream', async () => {
  const served = await smallGateway(1_000)
  const url = `data:image/png;base64,${'QUJD'.repeat(2_350_000)}`
  const content = [{ type: 'image_url', image_url: { url } }]
  const body = Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }))
  const address = `${served.address}${doorPaths.chat}`
  const statuses = await Promise.all(Array.from({ length: crowd }, () => post(address, body)))
  expect(statuses).toEqual(Array(crowd).fill(200))
  await expectUnharmed(served)
}, 120_000)
