import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGateway, type Log, type OpenStore } from '../../../src/index.ts'
import type { RunningGateway } from '../admin/client.ts'
import { readDemoText } from '../config/config-text.ts'
import { createPorts, openGateway } from '../host/open-gateway.ts'
import { serve } from '../host/serve.ts'
import { addDemoHistory } from './demo-history.ts'

/** A demo gateway in this process. */
export interface DemoGateway extends RunningGateway {
  /** Ends the requests and the gateway, and removes its database. */
  close(): Promise<void>
}

/** Starts the demo configuration with auth on, keys with budgets, past usage, and a request now and then. */
export async function startDemo(): Promise<DemoGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-demo-'))
  const masterKey = randomBytes(32).toString('hex')
  const env = { GATEWAY_MASTER_KEY: masterKey, GATEWAY_AUTH__DB_PATH: join(folder, 'gateway.db') }
  const ports = createPorts(env)
  const config = `${await readDemoText()}\n[auth]\nenabled = true\n`
  const openStore: OpenStore = async (settings) => {
    const store = await ports.openStore(settings)
    await addDemoHistory(store, Math.floor(Date.now() / 1000))
    return store
  }
  const options = { ...ports, openStore, env, config, log: () => silent }
  const gateway = await openGateway(createGateway(options))
  const serving = await serve(gateway, { host: '127.0.0.1', port: 0 })
  const traffic = await startTraffic({ address: serving.address, masterKey })
  return {
    address: serving.address,
    masterKey,
    async close() {
      clearInterval(traffic)
      await serving.close()
      await ports.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** The log of the demo would only hide the link. */
const silent: Log = { enabled: () => false, write() {} }

const pauseMs = 700

/** Sends a request from one of two keys to one of two models in turn. */
async function startTraffic(gateway: RunningGateway): Promise<NodeJS.Timeout> {
  const keys = await Promise.all([
    createKey(gateway, { name: 'search service', budget_max: 1, budget_period: 'day' }),
    createKey(gateway, { name: 'nightly batch', budget_max: 0.05, rpm_limit: 60 }),
  ])
  let count = 0
  return setInterval(() => {
    const key = keys[count % keys.length] ?? ''
    const model = count % 3 === 0 ? 'demo-flaky' : 'demo'
    const stream = count % 2 === 0
    const messages = [{ role: 'user', content: `What does request ${count} ask?` }]
    count++
    const body = { model, stream, max_tokens: 100, messages }
    // The console shows how it went.
    void send(gateway.address, { path: '/v1/chat/completions', key, body }).catch(() => undefined)
  }, pauseMs)
}

async function createKey(gateway: RunningGateway, body: object): Promise<string> {
  const { address, masterKey } = gateway
  // The answer of the admin API to a creation.
  return ((await send(address, { path: '/admin/keys', key: masterKey, body })) as NewKey).key
}

interface NewKey {
  readonly key: string
}

interface Sent {
  readonly path: string
  readonly key: string
  readonly body: object
}

/** Posts a body; resolves to the answer once all of it has arrived. */
async function send(address: string, { path, key, body }: Sent): Promise<unknown> {
  const answer = await fetch(address + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  })
  const isJson = answer.headers.get('content-type')?.startsWith('application/json')
  return isJson ? answer.json() : answer.text()
}
