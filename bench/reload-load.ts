import { once } from 'node:events'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startReloadTriggers } from '../adapters/node/config/reload-triggers.ts'
import { nodePorts, serve } from '../adapters/node/index.ts'
import { nodeConfigFile } from '../adapters/node/ports/config-file.ts'
import { openNodeStore } from '../adapters/node/ports/store.ts'
import { nodeUpstream } from '../adapters/node/ports/upstream.ts'
import { createGateway } from '../src/index.ts'

/**
 * A gateway with auth enabled, real sockets and real files, whose configuration is replaced
 * repeatedly while requests run. Each version has its own model name at the vendor and its
 * own price, so a response and its row identify their version.
 */
export interface ReloadLoadOptions {
  readonly connections: number
  /** Time between two changes, in milliseconds. */
  readonly pause: number
  /** The module of the database thread. Default: the one in the source. */
  readonly entry?: URL | undefined
}

/** The faults found; empty when there are none. */
export type Faults = readonly string[]

const masterKey = '7c'.repeat(32)
const master = { authorization: `Bearer ${masterKey}` }
const promptTokens = 1_000
const frames = 8
/** Time between two frames, in milliseconds: a stream spans several versions. */
const framePause = 40

export async function reloadLoad({ connections, pause, entry }: ReloadLoadOptions) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-reload-'))
  const path = join(folder, 'config.toml')
  const vendor = createServer((call, response) => void answer(call, response))
  vendor.listen(0, '127.0.0.1')
  await once(vendor, 'listening')
  const vendorPort = (vendor.address() as AddressInfo).port
  const textOf = (version: number) => makeConfig(version, vendorPort)
  writeFileSync(path, textOf(0))

  const upstream = nodeUpstream()
  const errors = new Set<string>()
  const gateway = await createGateway({
    ...nodePorts({}),
    env: { GATEWAY_MASTER_KEY: masterKey, GATEWAY_AUTH__DB_PATH: join(folder, 'gateway.db') },
    config: textOf(0),
    configFile: nodeConfigFile(path),
    upstream: upstream.send,
    openStore: (settings) => openNodeStore(settings, entry ? { entry } : {}),
    log: () => ({
      enabled: (level) => level !== 'info',
      write(level, message) {
        // A deliberately invalid file is not a fault.
        const isMeant = message.startsWith('the configuration is refused')
        if (level === 'error' && !isMeant) errors.add(message)
      },
    }),
  })
  const host = await serve(gateway, { port: 0 })
  const triggers = startReloadTriggers({ path, reload: gateway.reload, refresh: gateway.refresh })
  const faults: string[] = []
  const onFault = (error: unknown) => void faults.push(`unhandled: ${error}`)
  process.on('unhandledRejection', onFault)

  const admin = (method: string, route: string, body?: string, headers: object = {}) =>
    fetch(host.address + route, {
      method,
      headers: { ...master, ...headers },
      ...(body !== undefined && { body }),
    })
  const { id, key } = await (
    await admin('POST', '/admin/keys', '{"name":"load","budget_max":1e9,"rpm_limit":1000000000}')
  ).json()

  let version = 0
  /** The oldest version and the oldest vendor key that a new request may see. */
  const least = { version: 0, secret: -1 }
  const answers = new Map<number, number>()
  const counts = { json: 0, streams: 0, changes: 0, refused: 0 }

  /** Changes the configuration in one of five ways. */
  async function change(turn: number): Promise<void> {
    version += 1
    const next = version
    counts.changes += 1
    switch (turn % 5) {
      case 0: {
        const { hash } = await (await admin('GET', '/admin/config')).json()
        const { status } = await admin('PUT', '/admin/config', textOf(next), { 'if-match': hash })
        if (status !== 204) faults.push(`PUT /admin/config: ${status}`)
        least.version = next
        return
      }
      case 1:
        writeFileSync(`${path}.new`, textOf(next))
        return renameSync(`${path}.new`, path)
      case 2:
        writeFileSync(path, textOf(next))
        return void process.emit('SIGHUP')
      case 3: {
        const body = JSON.stringify({ key: `secret-${next}` })
        const { status } = await admin('PUT', '/admin/provider-keys/vendor', body)
        if (status !== 204) faults.push(`PUT /admin/provider-keys: ${status}`)
        least.secret = next
        return
      }
      default:
        counts.refused += 1
        writeFileSync(path, `version = ${next}\n[[providers`)
        return void process.emit('SIGHUP')
    }
  }

  /** Sends one request. Its response must be from one version, and not from a replaced one. */
  async function ask(index: number): Promise<void> {
    const { ...floor } = least
    const stream = index % 2 === 0
    const response = await fetch(`${host.address}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: 'Hi' }] }),
    })
    const text = await response.text()
    if (response.status !== 200) return void faults.push(`${response.status} ${text}`)
    if (stream && !text.endsWith('data: [DONE]\n\n')) faults.push('a stream was cut')
    const told = new Set(text.match(/"model":"[^"]*"/g))
    const [, seen, secret] = /"v(\d+) (?:Bearer secret-)?(-?\d+)"/.exec([...told].join()) ?? []
    if (told.size !== 1) faults.push(`versions are mixed: ${[...told]}`)
    if (Number(seen) < floor.version) faults.push(`version ${seen} after ${floor.version}`)
    if (Number(secret) < floor.secret) faults.push(`key ${secret} after ${floor.secret}`)
    answers.set(Number(seen), (answers.get(Number(seen)) ?? 0) + 1)
    counts[stream ? 'streams' : 'json'] += 1
  }

  let turn = 0
  return {
    counts,
    /** Loads the gateway for this long and changes its configuration meanwhile. */
    async run(time: number): Promise<void> {
      const end = performance.now() + time
      let index = 0
      const client = async () => {
        while (performance.now() < end) await ask(index++).catch(onFault)
      }
      const changing = async () => {
        while (performance.now() < end) {
          await Promise.all([change(turn++).catch(onFault), sleep(pause)])
        }
      }
      await Promise.all([changing(), ...Array.from({ length: connections }, client)])
    },
    /** Ends everything and returns the leaks and the sums that do not match. */
    async finish(): Promise<Faults> {
      const requests = counts.json + counts.streams
      await until(async () => (await rows()) === requests)
      const written = await rows()
      if (written !== requests) faults.push(`${written} rows of ${requests} requests`)
      await expectMoney()
      const metrics = await (await fetch(`${host.address}/metrics`)).text()
      for (const series of ['gateway_usage_log_dropped_total', 'gateway_requests_in_flight']) {
        if (!metrics.includes(`\n${series} 0\n`)) faults.push(`${series} is not 0`)
      }
      if (gateway.inFlight > 0) faults.push(`${gateway.inFlight} requests in flight`)
      for (const message of errors) faults.push(`the log has an error: ${message}`)
      // Idle connections time out.
      await until(async () => upstream.openSockets === 0)
      if (upstream.openSockets > 0) faults.push(`${upstream.openSockets} sockets to the vendor`)
      triggers.close()
      await host.close()
      upstream.close()
      vendor.closeAllConnections()
      vendor.close()
      await once(vendor, 'close')
      process.off('unhandledRejection', onFault)
      rmSync(folder, { recursive: true })
      return faults
    },
  }

  async function rows(): Promise<number> {
    const { groups } = await (await admin('GET', '/admin/usage?group_by=total')).json()
    return groups[0]?.requests ?? 0
  }

  /** Checks that each request was charged at the price of its version and nothing is reserved. */
  async function expectMoney(): Promise<void> {
    let nanos = 0
    for (const [seen, times] of answers) nanos += times * promptTokens * getPrice(seen) * 1_000
    const { groups } = await (await admin('GET', '/admin/usage?group_by=total')).json()
    const { budget_spent: spent } = await (await admin('GET', `/admin/keys/${id}`)).json()
    for (const sum of [groups[0]?.cost ?? 0, spent]) {
      if (Math.round(sum * 1e9) !== nanos) faults.push(`${sum} USD spent, not ${nanos / 1e9}`)
    }
    await admin('PATCH', `/admin/keys/${id}`, '{"budget_max":0}')
    const refused = await fetch(`${host.address}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: '{"model":"m","messages":[{"role":"user","content":"Hi"}]}',
    })
    const { error } = await refused.json()
    if (error.reserved !== 0) faults.push(`${error.reserved} USD are still reserved`)
  }
}

/** Price in US dollars per million tokens. */
function getPrice(version: number): number {
  return (version % 7) + 1
}

function makeConfig(version: number, vendorPort: number): string {
  return `
    [auth]
    enabled = true
    usage_flush_ms = 50
    [resilience]
    retry_base_ms = ${1 + version}
    [[providers]]
    name = "vendor"
    kind = "openai"
    base_url = "http://127.0.0.1:${vendorPort}/v1"
    [[providers.models]]
    id = "m"
    upstream_id = "v${version}"
    cost_per_1m_input = ${getPrice(version)}
    fallbacks = ["spare-${version}"]
    [[providers.models]]
    id = "spare-${version}"
    cost_per_1m_input = 0
  `
}

/** A vendor whose response names the requested model and the key. */
async function answer(call: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = ''
  for await (const piece of call) body += piece
  const { model, stream } = JSON.parse(body)
  const identity = {
    id: 'chatcmpl-1',
    created: 1,
    model: `${model} ${call.headers.authorization ?? -1}`,
  }
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: 0,
    total_tokens: promptTokens,
  }
  response.on('error', () => {})
  if (!stream) {
    await sleep(framePause)
    const message = { role: 'assistant', content: 'Hello' }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...identity, object: 'chat.completion', choices, usage }))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const write = (fields: object) =>
    response.write(
      `data: ${JSON.stringify({ ...identity, object: 'chat.completion.chunk', ...fields })}\n\n`,
    )
  for (let frame = 0; frame < frames; frame++) {
    write({ choices: [{ index: 0, delta: { content: 'word ' }, finish_reason: null }] })
    await sleep(framePause)
  }
  write({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage })
  response.end('data: [DONE]\n\n')
}

/** Waits for a condition, at most a few seconds. */
async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if (await isTrue()) return
    await sleep(100)
  }
}
